/** Keys, details and folded text of a question about a call. */

import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { editorOf } from '../../src/cli/terminal/editor.ts'
import { QUIET_MS } from '../../src/cli/terminal/key-filter.ts'
import type { Subject } from '../../src/host/model/question.ts'
import { proves } from '../support/proves.ts'
import { press, terminalQuestions } from './support/ask-terminal.ts'
import { KEY, OPEN_QUESTION as OPEN, readPages } from './support/terminal.ts'

const ask = terminalQuestions()
const askUnhurried = terminalQuestions(QUIET_MS)

const call: Subject = {
  kind: 'call',
  tool: {
    name: 'remove',
    description: 'Removes a note\u001b[2J',
    inputSchema: { type: 'object', properties: { id: { type: 'integer' }, password: { type: 'string' } }, required: ['id'] },
  },
  args: { id: 7, password: 'hunter2-hunter2' },
  pattern: { '/id': { max: 10 } },
  lastArgs: { id: 6 },
  destination: 'outside',
  origins: [{ pointer: '/id', source: 'mail/inbox#3', bytes: 1, characters: 1, excerpt: '7' }],
}

/** The key `a` grants this. */
const always = { scope: 'always', width: 'any' } as const

describe.each([
  [80, 24],
  [120, 40],
])('a question that is longer than a screen of %i columns and %i rows', (columns, rows) => {
  const sql = `DROP TABLE users; ${Array.from({ length: 10 * rows }, (_, i) => `-- licence line ${i}`).join('\n')} SELECT 1`
  const long: Subject = { ...call, args: { sql }, lastArgs: undefined, pattern: {}, origins: [] }

  test('it is allowed only after all of its pages were shown', { timeout: 60_000 }, async () => {
    const { terminal, answer, isAnswered } = ask(long, { always, reasons: [] }, { columns, rows })
    await terminal.until(OPEN)
    expect(terminal.text()).toMatch(/\d+ rows of the question are above this screen/)
    for (const key of ['y', 'a']) {
      await press(terminal, key)
      await terminal.until('a part of the question is above this screen.')
    }
    await terminal.press('d')
    await terminal.until(/next page \(2 of (\d+)\)/)
    // Stopping is not reading.
    await terminal.press('s')
    await terminal.until(/stop reading > s[\s\S]*\[y\][^>]*>$/)
    await press(terminal, 'y', 'd')
    const pages = Number(/next page \(2 of (\d+)\)/.exec(terminal.text())?.[1])
    expect(pages).toBeGreaterThan(1)
    const seen: string[] = []
    for (let page = 2; page <= pages; page++) {
      await terminal.until(new RegExp(`next page \\(${page} of ${pages}\\)[^>]*>$`))
      seen.push(...terminal.visible())
      await terminal.press('d')
    }
    await terminal.until(/expires in[\s\S]*\[y\][^>]*>$/)
    seen.push(...terminal.visible())
    for (const i of [0, 1, 5 * rows, 10 * rows - 1]) expect(seen.join('\n')).toContain(`licence line ${i}`)
    expect(isAnswered()).toBe(false)
    await press(terminal, 'y')
    expect((await answer()).answer).toMatchObject({ kind: 'allow' })
  })
})

describe('a call', () => {
  test('a call is shown in short: who wants it, the tool, the arguments, one reason and the keys', async () => {
    proves('T-TOOL-006', 'T-TOOL-045', 'T-ELIC-006')
    const { terminal, answer } = ask(call, { always })
    await terminal.until(OPEN)
    expect(terminal.text().trim().split('\n')).toEqual([
      'The model wants to call notes/remove. Allow it?',
      '  │ id = 7  password = "hunter2-hunter2"',
      '  ! warning: 1 character of id comes from the result of mail/inbox',
      '  why: It may destroy something',
      '  [y] allow once  [a] always, with any arguments  [n] deny  [d] details  [e] edit',
      '  [w] say what to do instead >',
    ])
    await press(terminal, KEY.enter)
    expect((await answer()).answer).toEqual({ kind: 'deny' })
    expect(terminal.text()).toContain('Denied.')
  })

  test('the details show everything: server, tool, reasons, arguments, and what a yes could cover', async () => {
    proves('T-TOOL-046')
    const { terminal, answer } = ask(call)
    await press(terminal, 'd')
    await terminal.until(OPEN)
    const text = terminal.text()
    for (const part of [
      'notes (calls itself Notes)',
      'node notes.mjs',
      'you → model scripted → server notes',
      'It may destroy something',
      'your data: may leave this computer',
      'argument id: │ 7',
      'argument id, last time: │ 6',
      'argument password: │ hunter2-hunter2',
      'comes from the result of mail/inbox',
      'Removes a note\\x1b[2J',
      'allowing similar calls would cover: │ id is at most 10',
      'expires in 10 minutes (then denied)',
      '[1] allow for this conversation',
      '[2] allow always',
    ])
      expect(text).toContain(part)
    await press(terminal, 'n')
    expect((await answer()).answer).toEqual({ kind: 'deny' })
  })

  test("a secret among the person's own arguments is folded, and shown on request", async () => {
    const { terminal, answer } = ask({ ...call, isOwn: true } as Subject, { scopes: ['once'], widths: ['exact'] })
    await terminal.until(OPEN)
    expect(terminal.text()).toContain('password = "[15 characters hidden]"')
    await press(terminal, 'd')
    await terminal.until('argument password: │ [15 characters hidden]')
    expect(terminal.text()).not.toMatch(/hunter2|for this conversation/)
    await terminal.until('[d] show the 15 hidden characters')
    await press(terminal, 'd')
    await terminal.until(/hunter2-hunter2/)
    await press(terminal, 'y')
    expect((await answer()).answer).toEqual({ kind: 'allow', scope: 'once' })
  })

  test('a call can be allowed once', async () => {
    const { terminal, answer } = ask(call)
    await press(terminal, 'y')
    expect((await answer()).answer).toEqual({ kind: 'allow', scope: 'once' })
    expect(terminal.text()).toContain('Allowed once.')
  })

  test.each([
    [{ scope: 'always', width: 'any' }, '[a] always, with any arguments'],
    [{ scope: 'always', width: 'exact' }, '[a] always, with exactly these arguments'],
    [{ scope: 'always', width: 'any', expiresAt: Date.UTC(2030, 0, 31) }, '[a] always, with any arguments, until 2030-01-31'],
  ] as const)('the key for always says what it covers, and grants that: %o', async (offered, label) => {
    const { terminal, answer } = ask(call, { always: offered })
    await terminal.until(label)
    await press(terminal, 'a')
    expect((await answer()).answer).toEqual({ kind: 'allow', scope: offered.scope, width: offered.width })
  })

  test.each([
    [['exact', 'any'], /\[1\] allow for this conversation +\[2\] allow always, choose the arguments/],
    [['any'], /\[1\] allow for this conversation >$/],
  ] as const)('the details offer always once more only for other arguments: %j', async (widths, offered) => {
    const { terminal, answer } = ask(call, { always, widths, scopes: ['once', 'session', 'always'] })
    await press(terminal, 'd')
    await terminal.until(offered)
    await press(terminal, 'n')
    expect((await answer()).answer).toEqual({ kind: 'deny' })
  })

  test('without an offer of always its key does nothing', async () => {
    const { terminal, answer } = ask(call)
    await terminal.until(OPEN)
    await sleep(700)
    terminal.type('a')
    await sleep(700)
    expect(terminal.text()).not.toMatch(/\[a\]|llowed/)
    await press(terminal, 'n')
    expect((await answer()).answer).toEqual({ kind: 'deny' })
  })

  test('a call can be allowed for longer, for everything that fits an edited pattern', async () => {
    const { terminal, answer } = ask(call)
    await press(terminal, 'd', '1')
    await terminal.until(/similar arguments would cover: │ id is at most 10[\s\S]*\[b\] back >/)
    await terminal.press('e')
    await terminal.until('The pattern')
    terminal.type(`\u007f\u007f\u007f\u007f20}}${KEY.enter}`)
    expect((await answer()).answer).toEqual({ kind: 'allow', scope: 'session', width: 'pattern', pattern: { '/id': { max: 20 } } })
  })

  test.each([
    ['x', { width: 'exact' }],
    ['s', { width: 'pattern', pattern: { '/id': { max: 10 } } }],
    ['a', { width: 'any' }],
  ])('a call can be allowed for longer, with a choice of arguments: key %s', async (key, covered) => {
    const { terminal, answer } = ask(call)
    await press(terminal, 'd', '2')
    await terminal.until(/\[b\] back >/)
    await terminal.press(key)
    expect((await answer()).answer).toEqual({ kind: 'allow', scope: 'always', ...covered })
  })

  test('Esc in the choice of arguments goes back to the question, and Esc there closes it', async () => {
    const { terminal, answer } = ask(call)
    await press(terminal, 'd', '2')
    await terminal.until(/\[b\] back >/)
    await terminal.press(KEY.escape)
    await press(terminal, 'y')
    expect((await answer()).answer).toEqual({ kind: 'allow', scope: 'once' })
  })

  test('edited arguments are checked by the schema before the call runs', async () => {
    const { terminal, answer } = ask({ ...call, args: { id: 7 } } as Subject)
    await press(terminal, 'e')
    await terminal.until('The arguments')
    terminal.type(`\u007f\u007f"x"}${KEY.enter}`)
    await terminal.until('expected integer')
    terminal.type(`\u007f\u007f\u007f\u007f8}${KEY.enter}`)
    await terminal.until(/new arguments:\s+│[\s\S]*"?id"?: ?8[\s\S]*Call it with these arguments\?/)
    await press(terminal, 'y')
    expect((await answer()).answer).toEqual({ kind: 'allow', scope: 'once', edited: { id: 8 } })
  })

  test('arguments that the person typed are used after Enter, without another question', async () => {
    const { terminal, answer } = ask({ ...call, args: { id: 7 } } as Subject)
    await press(terminal, 'e')
    await terminal.until('The arguments')
    terminal.type('\u007f\u007f8}')
    await terminal.until('"id":8}')
    await terminal.press(KEY.enter)
    expect((await answer()).answer).toEqual({ kind: 'allow', scope: 'once', edited: { id: 8 } })
    expect(terminal.text()).not.toContain('Call it with these arguments?')
  })

  test('pasted arguments are shown once more, also if the paste ends with Enter', async () => {
    const { terminal, answer, isAnswered } = ask({ ...call, args: { id: 7 } } as Subject)
    await press(terminal, 'e')
    await terminal.until('The arguments')
    terminal.type(`\u007f\u007f9}${KEY.enter}`)
    await terminal.until('Call it with these arguments?')
    expect(isAnswered()).toBe(false)
    await press(terminal, 'y')
    expect((await answer()).answer).toEqual({ kind: 'allow', scope: 'once', edited: { id: 9 } })
  })

  test('leaving the editor without a change, or a no to the new arguments, goes back to the question', async () => {
    const { terminal, answer, isAnswered } = ask({ ...call, args: { id: 7 } } as Subject)
    await press(terminal, 'e')
    await terminal.until('The arguments')
    terminal.type(KEY.enter)
    await terminal.until('Nothing was changed.')
    await press(terminal, 'e')
    await terminal.until(/◆ +The arguments/)
    terminal.type(`\u007f\u007f8}${KEY.enter}`)
    await terminal.until('Call it with these arguments?')
    await press(terminal, 'n')
    await terminal.until(OPEN)
    expect(isAnswered()).toBe(false)
    await press(terminal, 'n')
    expect((await answer()).answer).toEqual({ kind: 'deny' })
  })

  test('an editor that saves nothing allows nothing, and the editor that npm sets is not used', async () => {
    const own = ask({ ...call, args: { id: 7 } } as Subject, {}, { env: { EDITOR: 'true' } })
    await press(own.terminal, 'e')
    await own.terminal.until('Nothing was changed.')
    await press(own.terminal, 'n')
    expect((await own.answer()).answer).toEqual({ kind: 'deny' })
    const npm = { EDITOR: 'false', npm_config_editor: 'false', npm_config_user_agent: 'npm/11' }
    const ofNpm = ask({ ...call, args: { id: 7 } } as Subject, {}, { env: npm })
    await press(ofNpm.terminal, 'e')
    await ofNpm.terminal.until('The arguments')
  })

  test('EDITOR counts, except the one that npm sets', () => {
    const npm = { npm_config_user_agent: 'npm/11' }
    expect(editorOf({ env: { EDITOR: 'vi' } })).toBe('vi')
    expect(editorOf({ env: { ...npm, EDITOR: 'vi' } })).toBeUndefined()
    expect(editorOf({ env: { ...npm, EDITOR: 'nano' } })).toBe('nano')
    expect(editorOf({ env: { ...npm, EDITOR: 'vi', VISUAL: 'nano' } })).toBe('nano')
    expect(editorOf({ env: { EDITOR: '' } })).toBeUndefined()
  })

  test('a call can be denied with an instruction for the model', async () => {
    const { terminal, answer } = ask(call)
    await press(terminal, 'w')
    await terminal.until('What should be done instead?')
    terminal.type(`archive it${KEY.enter}`)
    expect((await answer()).answer).toEqual({ kind: 'deny', feedback: 'archive it' })
  })

  test.each([
    ['Ctrl-C', KEY.interrupt],
    ['Esc', KEY.escape],
    ['Ctrl-D', KEY.end],
  ])('a question closed without an answer is cancelled: %s', async (_name, key) => {
    const { terminal, answer } = ask(call)
    await press(terminal, key)
    expect((await answer()).answer).toEqual({ kind: 'cancel' })
    expect(terminal.text()).toContain('Closed without an answer, which counts as denied.')
  })

  test('Enter alone allows nothing: the default is the denial', async () => {
    const { terminal, answer } = ask(call)
    await press(terminal, KEY.enter)
    expect((await answer()).answer).toEqual({ kind: 'deny' })
  })

  test('a question that times out says so, and allows nothing', async () => {
    const { terminal, answer } = ask(call, { expiresAt: Date.now() + 1500 })
    expect((await answer()).answer).toEqual({ kind: 'error', code: 'ERR_CONSENT' })
    expect(terminal.text()).toContain('The question expired and counts as denied.')
  })
})

describe('folded text', () => {
  const long: Subject = { ...call, args: { id: 7, text: 'word '.repeat(900) } } as Subject

  test.each(['y', 'a'])('while an argument is folded, %s does not count until the details were opened', async (key) => {
    const { terminal, answer } = ask(long, { always })
    await terminal.until('text = 4,502 characters, see details')
    await press(terminal, key)
    await terminal.until('Open the details first (d)')
    await press(terminal, 'd')
    await terminal.until('next page')
    await readPages(terminal)
    await terminal.until(/(?:word ){10}/)
    await press(terminal, key)
    expect((await answer()).answer).toMatchObject({ kind: 'allow', scope: key === 'y' ? 'once' : 'always' })
  })

  test('a question that is taller than the screen repeats its title above the choices', async () => {
    const tall: Subject = { ...call, args: { command: 'word '.repeat(1200) } } as Subject
    const { terminal } = ask(tall)
    await terminal.until(OPEN)
    expect(terminal.text().match(/The model wants to call notes\/remove/g)).toHaveLength(2)
    expect(terminal.visible().join('\n')).toContain('The model wants to call notes/remove')
  })

  test('while an argument is folded, a denial counts', async () => {
    const { terminal, answer } = ask(long)
    await press(terminal, 'n')
    expect((await answer()).answer).toEqual({ kind: 'deny' })
  })

  test('an argument too long to edit here leaves the question open', async () => {
    const { terminal, answer } = ask(long)
    await press(terminal, 'e')
    await terminal.until('Set EDITOR to use your editor')
    await press(terminal, 'n')
    expect((await answer()).answer).toEqual({ kind: 'deny' })
  })
})

describe('input that is no answer', () => {
  test('text typed before the question was drawn answers nothing', async () => {
    const { terminal, answer, isAnswered } = askUnhurried(call)
    for (let i = 0; i < 5; i++) terminal.type(`y${KEY.enter}`)
    await terminal.until(OPEN)
    await sleep(1500)
    expect(isAnswered()).toBe(false)
    await press(terminal, 'n')
    expect((await answer()).answer).toEqual({ kind: 'deny' })
  })

  test('keys within half a second, held keys and pasted text answer nothing', async () => {
    const { terminal, answer, isAnswered } = askUnhurried(call)
    await terminal.until(OPEN)
    terminal.type('y')
    // A held key repeats.
    for (let i = 0; i < 30; i++) {
      await sleep(40)
      terminal.type('y')
    }
    await sleep(800)
    terminal.type('yes')
    await sleep(800)
    terminal.type(`y${KEY.enter}`)
    await sleep(300)
    expect(isAnswered()).toBe(false)
    await press(terminal, 'n')
    expect((await answer()).answer).toEqual({ kind: 'deny' })
  })

  test('text typed letter by letter answers nothing, not even with its first letter', async () => {
    const { terminal, answer, isAnswered } = askUnhurried(call, { always })
    await terminal.until(OPEN)
    for (const text of ['yes, do that', 'also']) {
      await sleep(800)
      for (const letter of text) {
        terminal.type(letter)
        await sleep(15)
      }
    }
    await sleep(400)
    expect(isAnswered()).toBe(false)
    await press(terminal, 'n')
    expect((await answer()).answer).toEqual({ kind: 'deny' })
  })
})

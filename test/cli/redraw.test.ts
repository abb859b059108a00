import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Answer, Question, Subject } from '../../src/host/model/question.ts'
import { temporaryFolders } from '../support/folders.ts'
import { proves } from '../support/proves.ts'
import { SHORT_QUIET_MS } from './support/ask-terminal.ts'
import { bundled } from './support/bundle.ts'
import { KEY, OPEN_QUESTION, readPages, startTerminal, type TerminalOptions, type TerminalProcess } from './support/terminal.ts'

const newFolder = temporaryFolders()
let [program, unhurried] = ['', '']

beforeAll(async () => {
  program = await bundled('ask-many.ts', SHORT_QUIET_MS)
  unhurried = await bundled('ask-many.ts')
})

const LONG = 'It says a lot about itself, in one line that no terminal is wide enough for, and then it goes on. '.repeat(6)

const SUBJECTS: readonly Subject[] = [
  call({ id: 7 }),
  { kind: 'compose', params: { messages: [{ role: 'user', content: { type: 'text', text: LONG } }], maxTokens: 100 } },
  call({ id: 8, text: LONG }),
  {
    kind: 'form',
    message: LONG,
    schema: { type: 'object', properties: { name: { type: 'string' } } },
    defaults: {},
    warnings: ['Look twice: '.concat(LONG)],
  },
  call({ list: Array.from({ length: 40 }, (_, i) => `item ${i}`) }),
]

function call(args: Record<string, unknown>): Extract<Subject, { kind: 'call' }> {
  const tool = { name: 'remove', description: LONG, inputSchema: { type: 'object' as const } }
  return { kind: 'call', tool, args, pattern: {}, lastArgs: undefined, destination: 'outside', origins: [] }
}

/** Every question is of another server, so that each has a title of its own. */
const questions = (count: number): Question[] =>
  Array.from({ length: count }, (_, i) => ({
    id: `q${i}`,
    action: 'tool.call',
    principal: 'anna',
    run: 'r1',
    askedAt: Date.now(),
    expiresAt: Date.now() + 10 * 60_000,
    server: { id: `s${i}`, title: `s${i}`, where: `node s${i}.mjs` },
    chain: ['you', `server s${i}`],
    reasons: ['It may destroy something'],
    subject: SUBJECTS[i % SUBJECTS.length] as Subject,
    scopes: ['once', 'session', 'always'],
    widths: ['exact', 'any'],
  }))

function ask(count: number, options: TerminalOptions, mode = '') {
  const file = join(newFolder(), 'answers.json')
  // What is typed for something else meets the quiet time of the product.
  const isHurried = mode !== 'typing'
  const terminal = startTerminal([isHurried ? program : unhurried, JSON.stringify(questions(count)), file, mode], {
    ...options,
    ...(isHurried && { quietMs: SHORT_QUIET_MS }),
  })
  const done = async (): Promise<{ answers: Answer[]; line?: string; told: number }> => {
    await terminal.exit
    return JSON.parse(readFileSync(file, 'utf8'))
  }
  return { terminal, done }
}

/** Waits until this question, and no other, is open at the bottom of the screen. */
async function opened(terminal: TerminalProcess, i: number): Promise<void> {
  const rest = (): string => terminal.text().slice(terminal.text().lastIndexOf('\n\n') + 2)
  await expect.poll(() => new RegExp(`\\bs${i}\\b`).test(rest().split('\n')[0] ?? ''), { timeout: 20_000 }).toBe(true)
  await expect.poll(() => rest().endsWith(' >'), { timeout: 20_000 }).toBe(true)
  // Nothing of others is below the question, or between its lines.
  expect(rest()).not.toMatch(/! event|a line of the result|progress/)
  expect(terminal.visible().join('\n').trimEnd(), terminal.text()).toMatch(/ >$/)
}

describe.each([
  [80, 24],
  [40, 12],
])('on %i columns and %i rows, while others write', (columns, rows) => {
  test('many questions in a row are asked one after the other, each with its place', async () => {
    proves('T-TOOL-006')
    const { terminal, done } = ask(15, { columns, rows })
    for (let i = 0; i < 15; i++) {
      await opened(terminal, i)
      expect(terminal.text()).toContain(`(${i + 1} of 15)`)
      const isCall = SUBJECTS[i % SUBJECTS.length]?.kind === 'call'
      if (!isCall || i % 2 === 1) await terminal.press('n')
      else {
        // Long arguments are folded.
        if (terminal.text().slice(terminal.text().lastIndexOf('\n\n')).includes('folded:')) {
          await terminal.press('d')
          await readPages(terminal)
          await terminal.until(OPEN_QUESTION)
        }
        await terminal.press('y')
      }
    }
    await terminal.until(/all done after/)
    const { answers, told } = await done()
    expect(told).toBeGreaterThan(10)
    expect(answers).toEqual(
      questions(15).map(({ subject }, i) => (subject.kind === 'call' && i % 2 === 0 ? { kind: 'allow', scope: 'once' } : { kind: 'deny' })),
    )
    // What was said meanwhile was not lost: all of it, in order, and on lines of its own.
    const events = [...terminal.text().matchAll(/^! event (\d+):/gm)].map(([, n]) => Number(n))
    expect(events).toEqual(Array.from({ length: told }, (_, i) => i + 1))
  }, 120_000)

  test('a withdrawn question says so', async () => {
    const { terminal, done } = ask(2, { columns, rows }, 'withdrawn')
    await opened(terminal, 0)
    const { answers } = await done()
    expect(answers).toEqual([{ kind: 'taken back' }, { kind: 'taken back' }])
    expect(terminal.text()).toContain('The question was withdrawn')
  }, 30_000)

  test('a question hides the line being typed and restores it, and typed text never answers it', async () => {
    const { terminal, done } = ask(1, { columns, rows }, 'typing')
    await terminal.until(/^>$/m)
    terminal.type('add a note about milk')
    await opened(terminal, 0)
    expect(terminal.visible().join('\n')).not.toContain('add a note')
    terminal.type(`yes yes${KEY.enter}`)
    await terminal.press('n')
    await expect.poll(() => terminal.visible().some((line) => line.startsWith('> add a note about milk')), { timeout: 10_000 }).toBe(true)
    terminal.type(` and eggs${KEY.enter}`)
    expect(await done()).toMatchObject({ answers: [{ kind: 'deny' }], line: 'add a note about milk and eggs' })
  }, 30_000)
})

test('no line of server text looks like our own, at any width of the terminal', async () => {
  const { terminal } = ask(3, { columns: 40, rows: 12 })
  for (const i of [0, 1]) {
    await opened(terminal, i)
    await terminal.press('n')
  }
  await opened(terminal, 2)
  const before = terminal.text().length
  await terminal.press('d')
  await readPages(terminal)
  await terminal.until(OPEN_QUESTION)
  const details = terminal.text().slice(before, terminal.text().lastIndexOf('[y]'))
  // Without the keys between the pages.
  const lines = details
    .split('\n')
    .filter((line) => line !== '' && !/^ {2}\[d\] next page|^ {2}\[|stop reading|^ d$/.test(line))
    .slice(2)
  expect(lines.length).toBeGreaterThan(15)
  for (const line of lines) expect(line).toMatch(/^ {2}(?:│ |! | {2}|[a-z][a-z ]*:| *expires in|$)|^Call s2/)
}, 30_000)

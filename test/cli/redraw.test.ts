import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Answer, Question, Subject } from '../../src/host/model/question.ts'
import { temporaryFolders } from '../support/folders.ts'
import { proves } from '../support/proves.ts'
import { bundled } from './support/bundle.ts'
import { KEY, startTerminal, type TerminalOptions, type TerminalProcess } from './support/terminal.ts'

const newFolder = temporaryFolders()
let program = ''

beforeAll(async () => {
  program = await bundled('ask-many.ts')
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
  const terminal = startTerminal([program, JSON.stringify(questions(count)), file, mode], options)
  const done = async (): Promise<{ answers: Answer[]; line?: string; told: number }> => {
    await terminal.exit
    return JSON.parse(readFileSync(file, 'utf8'))
  }
  return { terminal, done }
}

/** The prompt of this question, and nothing of another, stands at the bottom of the screen; `at` is where the cursor is. */
function expectPrompt(terminal: TerminalProcess, i: number, at: RegExp): void {
  const lines = terminal.visible()
  const screen = lines.join('\n')
  expect(
    lines.filter((line) => line.startsWith('◆')),
    screen,
  ).toHaveLength(1)
  const from = lines.findIndex((line) => line.startsWith('◆'))
  expect(lines[from], screen).toMatch(new RegExp(`^◆ .*\\bs${i}\\b`))
  const prompt = lines.slice(from + 1)
  const end = prompt.findIndex((line) => line.startsWith('↑/↓'))
  const choices = prompt.slice(0, end).filter((line) => /[●○]/.test(line))
  expect(new Set(choices).size, screen).toBe(choices.length)
  expect(
    choices.filter((line) => line.includes('●')),
    screen,
  ).toEqual([expect.stringMatching(at)])
  expect(
    choices.filter((line) => /[●○] No$/.test(line)),
    screen,
  ).toHaveLength(1)
  // Nothing of anybody else: neither between the choices, nor below, nor on the rest of the screen outside of the prompt.
  expect(
    prompt.slice(0, end).every((line) => /^[●○] /.test(line)),
    screen,
  ).toBe(true)
  expect(
    prompt
      .slice(end + 1)
      .join('')
      .trim(),
    screen,
  ).toBe('')
  expect(
    lines.slice(0, from).filter((line) => /[●○]/.test(line)),
    screen,
  ).toEqual([])
}

const settledAt = async (terminal: TerminalProcess, i: number, at: RegExp): Promise<void> => {
  await expect
    .poll(
      () =>
        terminal
          .visible()
          .filter((line) => line.includes('●'))
          .at(-1) ?? '',
      { timeout: 10_000 },
    )
    .toMatch(at)
  await expect
    .poll(
      () =>
        terminal
          .visible()
          .filter((line) => line.startsWith('◆'))
          .at(-1) ?? '',
      { timeout: 10_000 },
    )
    .toMatch(new RegExp(`\\bs${i}\\b`))
  expectPrompt(terminal, i, at)
}

describe.each([
  [80, 24],
  [40, 12],
])('on %i columns and %i rows, while others write', (columns, rows) => {
  test('with many questions in a row, one prompt is on the screen, and it is the one being answered', async () => {
    proves('T-TOOL-006')
    const { terminal, done } = ask(15, { columns, rows })
    for (let i = 0; i < 15; i++) {
      await settledAt(terminal, i, /● No$/)
      terminal.type(KEY.down)
      await settledAt(terminal, i, /● No, and say what to do/)
      terminal.type(KEY.up)
      await settledAt(terminal, i, /● No$/)
      if (SUBJECTS[i % SUBJECTS.length]?.kind === 'call' && i % 2 === 0) {
        terminal.type(KEY.up + KEY.up + KEY.up)
        await settledAt(terminal, i, /● Yes, this once$/)
      }
      terminal.type(KEY.enter)
    }
    const { answers, told } = await done()
    expect(told).toBeGreaterThan(10)
    expect(answers).toEqual(
      questions(15).map(({ subject }, i) => (subject.kind === 'call' && i % 2 === 0 ? { kind: 'allow', scope: 'once' } : { kind: 'deny' })),
    )
    // What was said meanwhile was not lost: all of it, in order, and on lines of its own.
    const events = [...terminal.text().matchAll(/^! event (\d+):/gm)].map(([, n]) => Number(n))
    expect(events).toEqual(Array.from({ length: told }, (_, i) => i + 1))
  }, 90_000)

  test('a withdrawn question is removed from the screen', async () => {
    const { terminal, done } = ask(2, { columns, rows }, 'withdrawn')
    await settledAt(terminal, 0, /● No$/)
    const { answers } = await done()
    expect(answers).toEqual([{ kind: 'taken back' }, { kind: 'taken back' }])
    expect(terminal.text()).not.toMatch(/^◆/m)
    expect(terminal.text()).toMatch(/^■ /m)
  }, 30_000)

  test('a question hides the line being typed and restores it, and typed text never answers it', async () => {
    const { terminal, done } = ask(1, { columns, rows }, 'typing')
    await terminal.until(/^>$/m)
    terminal.type('add a note about milk')
    await settledAt(terminal, 0, /● No$/)
    expect(terminal.visible().join('\n')).not.toContain('add a note')
    terminal.type(`kk jj hl${KEY.enter}`)
    await expect.poll(() => terminal.visible().some((line) => line.startsWith('> add a note about milk')), { timeout: 10_000 }).toBe(true)
    terminal.type(` and eggs${KEY.enter}`)
    expect(await done()).toMatchObject({ answers: [{ kind: 'deny' }], line: 'add a note about milk and eggs' })
  }, 30_000)
})

test('no line of server text looks like our own, at any width of the terminal', async () => {
  const { terminal } = ask(3, { columns: 40, rows: 12 })
  for (const i of [0, 1]) {
    await settledAt(terminal, i, /● No$/)
    terminal.type(KEY.enter)
  }
  await settledAt(terminal, 2, /● No$/)
  const details = terminal.text().slice(terminal.text().indexOf('Let s2 run'), terminal.text().lastIndexOf('◆'))
  const lines = details
    .split('\n')
    .slice(1)
    .filter((line) => line !== '' && !/^[│└]$/.test(line))
  expect(lines.length).toBeGreaterThan(15)
  for (const line of lines) expect(line).toMatch(/^ {2}(?:│ |! | {2}|[a-z][a-z ]*:| *expires in)/)
}, 30_000)

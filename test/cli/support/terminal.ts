/** A program in a real pseudo-terminal, and the screen that a person would see. */

import { setTimeout as sleep } from 'node:timers/promises'
import pty from '@lydell/node-pty'
import xterm from '@xterm/headless'
import { afterEach, expect } from 'vitest'
import { QUIET_MS } from '../../../src/cli/terminal/key-filter.ts'

export interface TerminalProcess {
  /** What stands on the screen and above it, without the blank rest of lines. */
  text(): string
  /** What stands on the screen now, line by line. */
  visible(): string[]
  /** Every byte that the program wrote. */
  raw(): string
  type(keys: string): void
  /** Answers an open question with one key, after the moment in which keys do not count. Resolves when the screen has changed. */
  press(key: string): Promise<void>
  /** Resolves when the text stands on the screen, or has scrolled off it. */
  until(text: string | RegExp): Promise<void>
  /** What it ended with. */
  exit: Promise<number>
}

export const KEY = {
  up: '\u001b[A',
  down: '\u001b[B',
  enter: '\r',
  escape: '\u001b',
  tab: '\t',
  space: ' ',
  interrupt: '\u0003',
  end: '\u0004',
  wipe: '\u0015',
} as const

/** What a busy machine may take beyond the quiet time to let keys count. */
const MARGIN_MS = 100

/** Nothing more is drawn when nothing came for so long. */
const STILL_MS = 120

/** What a busy machine may take for the next thing to appear. */
const PATIENCE_MS = 20_000

const running = new Set<pty.IPty>()

afterEach(() => {
  for (const child of running) child.kill('SIGKILL')
  running.clear()
})

export interface TerminalOptions {
  env?: Record<string, string>
  cwd?: string
  columns?: number
  rows?: number
  /** Another program than Node. */
  program?: string
  /** Keys count so long after the question was drawn. Default: as in the product. */
  quietMs?: number
}

export function startTerminal(
  args: readonly string[],
  { env = {}, cwd, columns = 100, rows = 50, program = process.execPath, quietMs = QUIET_MS }: TerminalOptions = {},
): TerminalProcess {
  const screen = new xterm.Terminal({ cols: columns, rows, scrollback: 5000, allowProposedApi: true })
  const child = pty.spawn(program, [...args], {
    cols: columns,
    rows,
    env: { PATH: process.env.PATH ?? '', TERM: 'xterm-256color', ...env },
    ...(cwd !== undefined && { cwd }),
  })
  running.add(child)
  let raw = ''
  let drawnAt = Date.now()
  const waiting = new Set<() => void>()
  child.onData((data) => {
    raw += data
    drawnAt = Date.now()
    screen.write(data, () => {
      for (const look of [...waiting]) look()
    })
  })
  let hasEnded = false
  const exit = new Promise<number>((resolve) =>
    child.onExit(({ exitCode }) => {
      running.delete(child)
      // What it wrote last may still be on its way to the screen.
      screen.write('', () => {
        hasEnded = true
        for (const look of [...waiting]) look()
        resolve(exitCode)
      })
    }),
  )
  const text = (): string => {
    const buffer = screen.buffer.active
    const lines = Array.from({ length: buffer.length }, (_, i) => buffer.getLine(i)?.translateToString(true) ?? '')
    return lines.join('\n').trimEnd()
  }
  const visible = (): string[] => {
    const { baseY } = screen.buffer.active
    return Array.from({ length: rows }, (_, i) => screen.buffer.active.getLine(baseY + i)?.translateToString(true) ?? '')
  }
  /** Resolves when the screen changes or the program ends, at the latest after `ms`. */
  const nextChange = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      const done = (): void => {
        waiting.delete(done)
        clearTimeout(timer)
        resolve()
      }
      const timer = setTimeout(done, ms)
      waiting.add(done)
    })
  /** Resolves when nothing was written for `ms`, at the latest after `atMost`. */
  const still = async (ms: number, atMost: number): Promise<void> => {
    const until = Date.now() + atMost
    while (!hasEnded && Date.now() < Math.min(until, drawnAt + ms)) await nextChange(Math.min(until, drawnAt + ms) - Date.now())
  }
  return {
    text,
    visible,
    raw: () => raw,
    type: (keys) => child.write(keys),
    press: async (key) => {
      const until = Date.now() + PATIENCE_MS
      for (let isTaken = false; !isTaken; ) {
        if (Date.now() > until) throw new Error(`The key ${JSON.stringify(key)} changed nothing:\n${text()}`)
        await still(quietMs + MARGIN_MS, 5_000)
        const before = raw.length
        if (!hasEnded) child.write(key)
        // Long enough for a busy machine: a key that is sent twice could answer the next question, too.
        const late = Date.now() + 1_500
        while (raw.length === before && !hasEnded && Date.now() < late) await nextChange(late - Date.now())
        isTaken = raw.length !== before || hasEnded
      }
      // What follows may come in several parts. Others may go on writing.
      await still(STILL_MS, 1_000)
    },
    exit,
    until: (wanted) =>
      new Promise((resolve, reject) => {
        const look = (isLate = false): void => {
          const now = text()
          const isThere = typeof wanted === 'string' ? now.includes(wanted) : wanted.test(now)
          if (!isThere && !hasEnded && !isLate) return
          waiting.delete(look)
          clearTimeout(timer)
          if (isThere) resolve()
          else reject(new Error(`It ${hasEnded ? 'ended' : 'went on'} without ${String(wanted)} on its screen:\n${now}`))
        }
        const timer = setTimeout(look, PATIENCE_MS, true)
        waiting.add(look)
        look()
      }),
  }
}

/** Whether the prompt of the shell waits for a line. */
export const isAtPrompt = (terminal: Pick<TerminalProcess, 'visible'>): boolean =>
  /(?:^|\n)>$/.test(terminal.visible().join('\n').trimEnd())

/** Resolves when the prompt waits. Keys that come earlier can get lost: only then does the terminal pass them on as they are. */
export const untilPrompt = (terminal: Pick<TerminalProcess, 'visible'>): Promise<void> =>
  expect.poll(() => isAtPrompt(terminal), { timeout: PATIENCE_MS }).toBe(true)

/** Types a line when the prompt waits for it. */
export async function typeLine(terminal: TerminalProcess, line: string): Promise<void> {
  await untilPrompt(terminal)
  terminal.type(`${line}${KEY.enter}`)
}

/** Ends the program with Ctrl-D at its prompt. Resolves with its exit code. */
export async function leave(terminal: TerminalProcess): Promise<number> {
  await untilPrompt(terminal)
  terminal.type(KEY.end)
  return terminal.exit
}

/** Whether a question waits for a key: its choices are the last thing on the screen. */
export const OPEN_QUESTION = /\[n\][\s\S]* >$/

/** The question that waits for a key now, from its title on. Empty: none waits. */
export const openQuestion = (terminal: Pick<TerminalProcess, 'text'>): string => {
  const text = terminal.text()
  const question = text.slice(text.lastIndexOf('\n\n') + 2)
  return OPEN_QUESTION.test(question) ? question : ''
}

/** Goes on to the last page of the details. */
export async function readPages(terminal: TerminalProcess): Promise<void> {
  while (/next page \(\d+ of \d+\)[^>]*>$/.test(terminal.text())) await terminal.press('d')
}

/** Waits for the question with this title and answers it with one key. Opens the details first if a part is folded. */
export async function answerQuestion(terminal: TerminalProcess, title: RegExp | string, key: string): Promise<void> {
  const isAsked = (): boolean => {
    const question = openQuestion(terminal)
    return typeof title === 'string' ? question.includes(title) : title.test(question)
  }
  const until = Date.now() + PATIENCE_MS
  while (!isAsked()) {
    if (Date.now() > until) throw new Error(`It did not ask ${String(title)}:\n${terminal.text()}`)
    await sleep(50)
  }
  if (/^ {2}folded: /m.test(openQuestion(terminal)) && key !== 'n') {
    await terminal.press('d')
    await readPages(terminal)
    await terminal.until(OPEN_QUESTION)
  }
  await terminal.press(key)
}

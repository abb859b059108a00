/** A question in a real terminal, and the answer that the host gets. */

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll } from 'vitest'
import type { Answer, Question, Subject } from '../../../src/host/model/question.ts'
import { temporaryFolders } from '../../support/folders.ts'
import { bundled } from './bundle.ts'
import { OPEN_QUESTION, startTerminal, type TerminalOptions, type TerminalProcess } from './terminal.ts'

export interface Asked {
  terminal: TerminalProcess
  /** What the host is given, once the person is done. */
  answer(): Promise<{ answer: Answer | { kind: 'error'; code: string }; opened: string[] }>
  isAnswered(): boolean
}

/** A question with everything that it needs. */
export const wholeQuestion = (subject: Subject, question: Partial<Question> = {}): Question => ({
  id: 'q1',
  action: 'tool.call',
  principal: 'anna',
  run: 'r1',
  askedAt: Date.now(),
  expiresAt: Date.now() + 10 * 60_000,
  server: { id: 'notes', title: 'Notes', where: 'node notes.mjs' },
  chain: ['you', 'model scripted', 'server notes'],
  reasons: ['It may destroy something'],
  subject,
  scopes: ['once', 'session', 'always'],
  widths: ['exact', 'pattern', 'any'],
  ...question,
})

/** The quiet time of a question in tests of something else. */
export const SHORT_QUIET_MS = 60

export interface AskedTogether {
  terminal: TerminalProcess
  answers(): Promise<Answer[]>
}

/** Call it once in a file of tests. Returns the function that asks several questions on one screen. @param quietMs as below */
export function questionsTogether(quietMs = SHORT_QUIET_MS): (questions: readonly Question[], options?: TerminalOptions) => AskedTogether {
  const newFolder = temporaryFolders()
  let program = ''
  beforeAll(async () => {
    program = await bundled('ask-together.ts', quietMs)
  })
  return (questions, options = {}) => {
    const file = join(newFolder(), 'answers.json')
    const terminal = startTerminal([program, JSON.stringify(questions), file], { ...options, quietMs })
    return {
      terminal,
      answers: async () => {
        await terminal.exit
        return JSON.parse(readFileSync(file, 'utf8'))
      },
    }
  }
}

/** The list waits for a key: its keys are the last thing on the screen. */
export const OPEN_LIST = /\[esc\] none$/

/** Call it once in a file of tests. Returns the function that asks. @param quietMs for tests of the quiet time: that of the product */
export function terminalQuestions(
  quietMs = SHORT_QUIET_MS,
): (subject: Subject, question?: Partial<Question>, options?: TerminalOptions) => Asked {
  const newFolder = temporaryFolders()
  let program = ''
  beforeAll(async () => {
    program = await bundled('ask-terminal.ts', quietMs)
  })
  return (subject, question = {}, options = {}) => {
    const whole = wholeQuestion(subject, question)
    const file = join(newFolder(), 'answer.json')
    const terminal = startTerminal([program, JSON.stringify(whole), file], { ...options, quietMs })
    return {
      terminal,
      isAnswered: () => existsSync(file),
      answer: async () => {
        await terminal.exit
        return JSON.parse(readFileSync(file, 'utf8'))
      },
    }
  }
}

/** Waits for the choices, and answers with keys, one after the other. */
export async function press(terminal: TerminalProcess, ...keys: string[]): Promise<void> {
  for (const key of keys) {
    await terminal.until(OPEN_QUESTION)
    await terminal.press(key)
  }
}

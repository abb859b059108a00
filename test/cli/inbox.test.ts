/** Questions of the inbox offer the same choices as questions at the terminal. */

import { join } from 'node:path'
import { expect, test } from 'vitest'
import { inboxAsker, type Question } from '../../src/host/index.ts'
import type { FormSchema } from '../../src/protocol/model/elicitation.ts'
import { question } from '../host/consent/ask/questions.ts'
import { temporaryFolders } from '../support/folders.ts'
import { CLI, portico } from './support/cli.ts'
import { answerQuestion, startTerminal } from './support/terminal.ts'

const newFolder = temporaryFolders()

/** A question that waits in the inbox, and the commands that answer it. */
function parked(more: Partial<Question>) {
  const home = newFolder()
  const env = { HOME: home, PORTICO_HOME: join(home, 'host') }
  const stop = new AbortController()
  const answer = inboxAsker({ folder: join(env.PORTICO_HOME, 'inbox') }).ask(question(more), stop.signal)
  answer.catch(() => {})
  const run = (...args: string[]) => portico(args, { env, cwd: home })
  const isListed = async (): Promise<boolean> => (await run('inbox', 'list')).stdout.includes('mail/send')
  return { answer, run, isListed, stop, sit: () => startTerminal([CLI, 'inbox', 'answer'], { env, cwd: home }) }
}

const always = { scope: 'always', width: 'exact' } as const

test('a question of the inbox is answered with always only if it offers that', async () => {
  const offered = parked({ always })
  await expect.poll(offered.isListed, { timeout: 10_000 }).toBe(true)
  expect((await offered.run('inbox', 'answer', '--always', '--allow')).code).toBe(2)
  expect((await offered.run('inbox', 'answer', '--always')).code).toBe(0)
  expect(await offered.answer).toMatchObject({ kind: 'allow', ...always })

  const other = parked({})
  await expect.poll(other.isListed, { timeout: 10_000 }).toBe(true)
  expect(await other.run('inbox', 'answer', '--always')).toMatchObject({ code: 2, stderr: expect.stringContaining('does not offer') })
  other.stop.abort(new Error('no longer needed'))
}, 60_000)

test('at a terminal a question of the inbox has the same keys', async () => {
  const { answer, isListed, sit } = parked({ always })
  await expect.poll(isListed, { timeout: 10_000 }).toBe(true)
  const terminal = sit()
  await answerQuestion(terminal, '[a] always, with exactly these arguments', 'a')
  expect(await terminal.exit).toBe(0)
  expect(await answer).toMatchObject({ kind: 'allow', ...always })
}, 60_000)

test('a form of the inbox takes values, and stays open after an answer that does not fit', async () => {
  const schema: FormSchema = {
    type: 'object',
    properties: { sure: { type: 'boolean' }, note: { type: 'string' } },
    required: ['sure'],
  }
  const { answer, run } = parked({
    action: 'elicit.form',
    subject: { kind: 'form', message: 'Really?', schema, defaults: { note: 'none' }, warnings: [] },
  })
  await expect.poll(async () => (await run('inbox', 'list', '--json')).stdout, { timeout: 10_000 }).toContain('Really?')
  const refused = await run('inbox', 'answer', '--allow')
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('"sure" is required') })
  expect(refused.stderr).toMatch(/still open.* inbox answer \S+ key=value/s)
  expect((await run('inbox', 'answer', 'sure=true', '--allow')).code).toBe(2)
  expect(await run('inbox', 'answer', 'sur=true')).toMatchObject({ code: 2, stderr: expect.stringContaining('"sure"') })
  expect(await run('inbox', 'answer', 'sure=true')).toMatchObject({ code: 0 })
  expect(await answer).toMatchObject({ kind: 'allow', scope: 'once', edited: { sure: true, note: 'none' } })
}, 60_000)

test('only a form takes values', async () => {
  const { answer, run, isListed } = parked({})
  await expect.poll(isListed, { timeout: 10_000 }).toBe(true)
  expect(await run('inbox', 'answer', 'sure=true')).toMatchObject({ code: 2, stderr: expect.stringContaining('not a form') })
  expect((await run('inbox', 'answer', '--deny')).code).toBe(0)
  expect(await answer).toMatchObject({ kind: 'deny' })
}, 60_000)

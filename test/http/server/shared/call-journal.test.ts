/** The journal of a restartable call: what a later run uses again, and what it asks again. */

import { expect, test } from 'vitest'
import { type JournalOwner, lastQuestion, StreamJournal } from '../../../../src/http/server/shared/call-journal.ts'
import { RemoteError } from '../../../../src/jsonrpc/remote-error.ts'
import { McpError } from '../../../../src/protocol/errors.ts'
import type { TakenOver } from '../../../../src/store/index.ts'

const QUESTION = { method: 'roots/list' }

/** The runs of one call. Each begins with what those before have recorded. */
function runsOfOneCall(): { next(left?: Partial<TakenOver>): StreamJournal; settled: string[]; recorded: Record<string, string> } {
  const recorded: Record<string, string> = {}
  const settled: string[] = []
  let asked = 0
  const owner: JournalOwner = {
    stream: 's',
    questionId: () => `s.${++asked}`,
    record: async (name, json) => {
      recorded[name] = json
    },
    passAnswer: () => {},
    settle: (question) => settled.push(question),
  }
  const next = (left: Partial<TakenOver> = {}): StreamJournal =>
    new StreamJournal(owner, { journal: { ...recorded }, answers: {}, questions: [], ...left })
  return { next, settled, recorded }
}

const never = (): Promise<never> => Promise.reject(new Error('Asked again'))

test('an answer, also an error of the client, is the same in every run, and is settled once it is recorded', async () => {
  const { next, settled } = runsOfOneCall()
  const first = next()
  expect(await first.ask('a', QUESTION, async () => ({ roots: [] }))).toEqual({ roots: [] })
  const refusal = new RemoteError({ code: -1, message: 'No' })
  await expect(first.ask('b', QUESTION, () => Promise.reject(refusal))).rejects.toMatchObject({ code: -1, message: 'No' })
  expect(settled).toEqual(['s.1', 's.2'])
  const second = next()
  expect(await second.ask('a', QUESTION, never)).toEqual({ roots: [] })
  await expect(second.ask('b', QUESTION, never)).rejects.toMatchObject({ code: -1, message: 'No' })
})

test('a question that the client has is waited for, and one that it never got is sent', async () => {
  const { next, recorded } = runsOfOneCall()
  void next().ask('a', QUESTION, () => new Promise(() => {}))
  await expect.poll(() => recorded['question a']).toBeDefined()
  const sent: [string, boolean][] = []
  const send = async (id: string, isSent: boolean): Promise<object> => {
    sent.push([id, isSent])
    return Promise.reject(new DOMException('This replica ends, too', 'AbortError'))
  }
  await expect(next({ questions: ['s.1'] }).ask('a', QUESTION, send as never)).rejects.toThrow('ends, too')
  await expect(next({ answers: { 's.1': '{}' } }).ask('a', QUESTION, send as never)).rejects.toThrow('ends, too')
  await expect(next().ask('a', QUESTION, send as never)).rejects.toThrow('ends, too')
  await expect(next({ questions: ['s.2'] }).ask('a', { method: 'other' }, send as never)).rejects.toThrow('ends, too')
  expect(sent).toEqual([
    ['s.1', true],
    ['s.1', true],
    ['s.2', false],
    ['s.3', false],
  ])
  expect(lastQuestion(recorded)).toBe(3)
})

test('a question whose time was over is asked again, because the client was told not to answer it', async () => {
  const { next, settled } = runsOfOneCall()
  const late = new McpError('ERR_TIMEOUT', 'No answer')
  await expect(next().ask('a', QUESTION, () => Promise.reject(late))).rejects.toThrow('No answer')
  expect(settled).toEqual(['s.1'])
  expect(await next({ questions: ['s.1'] }).ask('a', QUESTION, async (id, isSent) => ({ id, isSent }))).toEqual({
    id: 's.2',
    isSent: false,
  })
})

test('answers and steps of one call are limited together, also over several runs', async () => {
  const { next } = runsOfOneCall()
  const long = JSON.stringify('x'.repeat(130 * 1024))
  expect(await next().step('one', async () => long)).toBe(long)
  const second = next()
  expect(await second.step('one', never)).toBe(long)
  await expect(second.step('two', async () => long)).rejects.toMatchObject({ code: 'ERR_LIMIT', data: { limit: 'maxJournalChars' } })
})

test('an answer that is too large for the journal does not stay in the store', async () => {
  const { next, settled, recorded } = runsOfOneCall()
  const large = { text: 'x'.repeat(300 * 1024) }
  await expect(next().ask('a', QUESTION, async () => large)).rejects.toMatchObject({ code: 'ERR_LIMIT' })
  expect([settled, recorded['question a']?.includes('answer')]).toEqual([['s.1'], false])
})

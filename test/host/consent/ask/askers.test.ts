/** Askers that are made of others, or of nothing. */

import { describe, expect, test } from 'vitest'
import { denyAll, firstOf, queued, scripted } from '../../../../src/host/consent/ask/askers.ts'
import type { Answer, Asker } from '../../../../src/host/model/question.ts'
import { question } from './questions.ts'

const never = new AbortController().signal
const NO: Answer = { kind: 'deny' }
const YES: Answer = { kind: 'allow', scope: 'once' }

/** Answers when it is told to. */
function byHand() {
  const open: { server: string; answer(answer: Answer): void; signal: AbortSignal }[] = []
  const asker: Asker = {
    ask: ({ server }, signal) =>
      new Promise((resolve, reject) => {
        open.push({ server: server.id, answer: resolve, signal })
        signal.addEventListener('abort', () => reject(signal.reason))
      }),
  }
  return { open, asker }
}

const of = (id: string) => question({ server: { id, title: id, where: id } })
const soon = () => new Promise((resolve) => setImmediate(resolve))

test('without a person, the error says what needs an answer and what to do, and its data say why', async () => {
  await expect(denyAll().ask(question(), never)).rejects.toMatchObject({
    code: 'ERR_CONSENT',
    message:
      'Calling mail/send needs your approval, and there is no terminal. Run it once in a terminal, add a rule (portico policy), or use --inbox.',
    data: { action: 'tool.call', server: 'mail', reasons: expect.arrayContaining([expect.stringContaining('no rule allows it')]) },
  })
})

describe('of several', () => {
  test('the first answer of several askers counts, and the others are told', async () => {
    const slow = byHand()
    expect(await firstOf(slow.asker, scripted([NO])).ask(question(), never)).toEqual(NO)
    expect(slow.open[0]?.signal.aborted).toBe(true)
  })

  test('an asker that cannot ask is ignored while another can', async () => {
    const slow = byHand()
    const asking = firstOf(denyAll(), slow.asker).ask(question(), never)
    await soon()
    slow.open[0]?.answer(YES)
    expect(await asking).toEqual(YES)
    await expect(firstOf(denyAll(), denyAll()).ask(question(), never)).rejects.toMatchObject({ code: 'ERR_CONSENT' })
    await expect(firstOf().ask(question(), never)).rejects.toMatchObject({ code: 'ERR_CONSENT' })
  })

  test('all askers are told when the question is withdrawn', async () => {
    const [one, other] = [byHand(), byHand()]
    const over = new AbortController()
    const asking = firstOf(one.asker, other.asker).ask(question(), over.signal)
    over.abort(new Error('gone'))
    await expect(asking).rejects.toThrow('gone')
    expect([one, other].every(({ open }) => open[0]?.signal.aborted)).toBe(true)
  })
})

describe('one at a time', () => {
  test('servers take turns with questions, even if one asks many', async () => {
    const { open, asker } = byHand()
    const queue = queued(asker)
    const asking = ['a', 'a', 'a', 'b', 'c'].map((id) => queue.ask(of(id), never))
    for (let turn = 0; turn < 5; turn++) {
      await soon()
      expect(open).toHaveLength(turn + 1)
      open[turn]?.answer(NO)
    }
    await Promise.all(asking)
    expect(open.map(({ server }) => server)).toEqual(['a', 'b', 'c', 'a', 'a'])
  })

  test('a withdrawn question is never asked, and a failed one does not stop the next', async () => {
    const { open, asker } = byHand()
    const queue = queued(asker)
    const [withdrawn, failing] = [new AbortController(), new AbortController()]
    const first = queue.ask(of('a'), failing.signal)
    const second = queue.ask(of('b'), withdrawn.signal)
    const third = queue.ask(of('c'), never)
    withdrawn.abort(new Error('withdrawn'))
    await expect(second).rejects.toThrow('withdrawn')
    await soon()
    failing.abort(new Error('failed'))
    await expect(first).rejects.toThrow('failed')
    await soon()
    open[1]?.answer(YES)
    expect(await third).toEqual(YES)
    expect(open.map(({ server }) => server)).toEqual(['a', 'c'])
  })
})

test('prepared answers are given in order, and none is invented', async () => {
  const asker = scripted([YES, ({ server }) => ({ kind: 'deny', feedback: server.id })])
  expect(await asker.ask(question(), never)).toEqual(YES)
  expect(await asker.ask(question(), never)).toEqual({ kind: 'deny', feedback: 'mail' })
  await expect(asker.ask(question(), never)).rejects.toMatchObject({ code: 'ERR_CONSENT' })
  expect(asker.asked).toHaveLength(3)
})

/** Limits of rules, and the guard against loops, as a whole host keeps them. */

import { describe, expect, test } from 'vitest'
import { Conversation } from '../../src/host/index.ts'
import type { ServerSpec } from '../../src/host/model/server-spec.ts'
import type { Rule } from '../../src/host/policy-tools/index.ts'
import { createServer } from '../../src/server/index.ts'
import { calling, chat, hosts, NO, person, spy, textOf } from './hosts.ts'

const { host: hostWith } = hosts()

const worker = () => {
  let calls = 0
  const service = createServer({ name: 'worker', version: '1', limits: { toolCalls: false } })
  service.tool('work', { input: { type: 'object' } }, () => {
    calls++
    return 'x'.repeat(5_000)
  })
  const spec: Omit<ServerSpec, 'id'> = {
    transport: { type: 'memory', service },
    tier: 'trusted',
    provenance: [],
    asserted: { '*': { destructiveHint: false, openWorldHint: false } },
  }
  return { servers: { worker: spec }, calls: () => calls }
}

const policyWith = (limits: Rule['limits'], action = 'tool.call') => ({
  user: [
    { id: 'calls', effect: 'allow' as const, match: { action: 'tool.call' } },
    { id: 'limited', effect: 'allow' as const, match: { action }, ...(limits && { limits }) },
  ],
})

describe('rules with limits', () => {
  test('calls over the limit of a rule are refused, and the error names the limit', async () => {
    const { servers, calls } = worker()
    const host = await hostWith({ servers, ask: person(), policy: policyWith({ rate: '2/m' }) })
    for (const n of [1, 2]) await host.call('worker__work', { n })
    await expect(host.call('worker__work', { n: 3 })).rejects.toMatchObject({
      code: 'ERR_DENIED',
      message: expect.stringContaining('perMinute'),
    })
    expect(calls()).toBe(2)
  })

  test.each(['tool.call', 'tool.result'])('a result over the limit of a rule about the %s is cut', async (action) => {
    const { servers } = worker()
    const host = await hostWith({ servers, ask: person(), policy: policyWith({ resultBytes: 1_000 }, action) })
    const text = textOf(await host.call('worker__work'))
    expect(text.length).toBeLessThan(1_300)
    expect(text).toContain('the limit is 1000 bytes (maxResultBytes, or resultBytes in a rule)')
    const whole = await hostWith({ servers: worker().servers, ask: person(), policy: policyWith(undefined, action) })
    expect(textOf(await whole.call('worker__work'))).toHaveLength(5_000)
  })
})

test('the third identical call in a row is asked about, even if a rule or grant allows it', async () => {
  const { servers, calls } = worker()
  const ask = person(({ subject }) => (subject.kind === 'call' ? NO : undefined))
  const model = spy(...[1, 1, 1, 2].map((n) => [calling('worker__work', { n })]))
  const host = await hostWith({ servers, ask, model, policy: policyWith(undefined) })
  await chat(host, 'work')
  expect(ask.saw('call')).toHaveLength(1)
  expect(calls()).toBe(3)
})

test('a person who asks for the same again and again is not in a loop', async () => {
  const { servers, calls } = worker()
  const ask = person()
  const model = spy(...[1, 2, 3, 4].flatMap(() => [[calling('worker__work', { n: 1 })], []]))
  const host = await hostWith({ servers, ask, model, policy: policyWith(undefined) })
  const conversation = new Conversation()
  for (let each = 0; each < 4; each++) await host.call('worker__work', { n: 1 }, { as: 'person', conversation })
  for (let each = 0; each < 4; each++) await chat(host, 'work', { conversation })
  expect(ask.saw('call')).toEqual([])
  expect(calls()).toBe(8)
})

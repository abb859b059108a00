/** Requests that ended while Redis could not be reached: one that cannot be removed must not keep the others. */

import { expect, test } from 'vitest'
import { McpError } from '../../src/protocol/errors.ts'
import { LateLeaves } from '../../src/redis/late-leaves.ts'
import { until } from '../support/until.ts'

const DOWN = new McpError('ERR_STORE_DOWN', 'Redis does not answer')
const DAMAGED = new McpError('ERR_STORE', 'Redis refused a command: WRONGTYPE')

/** Fails for session `a` always, and for the others once. Returns the sessions that were tried. */
async function leaveAll(fault: McpError): Promise<string[]> {
  const tried: string[] = []
  const late = new LateLeaves(async ({ sid }) => {
    const isFirst = !tried.includes(sid)
    tried.push(sid)
    if (sid === 'a') throw fault
    if (isFirst) throw DOWN
  })
  for (const sid of ['a', 'b']) {
    const registration = { sid, field: '1', replica: 'r', attempt: '' }
    await expect(late.leave(registration)).rejects.toThrow(sid === 'a' ? fault : DOWN)
  }
  await until(() => tried.filter((sid) => sid === 'b').length === 2)
  return tried
}

test('a request with a damaged key is not tried again, and others are', async () => {
  expect((await leaveAll(DAMAGED)).filter((sid) => sid === 'a')).toHaveLength(1)
})

test('a request that Redis refuses again and again does not keep others from being removed', async () => {
  expect((await leaveAll(DOWN)).filter((sid) => sid === 'a').length).toBeGreaterThan(1)
})

/** What a replica asks the store about many sessions and requests, while some cannot be asked about. */

import { expect, test } from 'vitest'
import { askEach } from '../../../../src/http/server/shared/ask-each.ts'
import { type ErrorCode, McpError } from '../../../../src/protocol/errors.ts'

const ITEMS = Array.from({ length: 300 }, (_, i) => i)

/** Asks about 300 items. `faultOf` says which ones fail. */
async function asked(faultOf: (item: number) => ErrorCode | undefined) {
  const seen: number[] = []
  const reports: unknown[] = []
  let [now, most] = [0, 0]
  const hasHeard = await askEach(
    ITEMS,
    async (item) => {
      seen.push(item)
      most = Math.max(most, ++now)
      await Promise.resolve()
      now--
      const fault = faultOf(item)
      if (fault) throw new McpError(fault, fault)
    },
    (error) => reports.push((error as McpError).code),
  )
  return { hasHeard, seen: seen.length, reports, most }
}

test('up to 64 questions are asked at once', async () => {
  expect(await asked(() => undefined)).toEqual({ hasHeard: true, seen: 300, reports: [], most: 64 })
})

test('a damaged item is reported, and the others are asked', async () => {
  expect(await asked((item) => (item === 3 ? 'ERR_STORE' : undefined))).toMatchObject({ hasHeard: true, seen: 300, reports: ['ERR_STORE'] })
})

test('no more is asked of a store that is away or closed', async () => {
  expect(await asked(() => 'ERR_STORE_DOWN')).toMatchObject({ hasHeard: false, seen: 64 })
  expect(await asked(() => 'ERR_CLOSED')).toMatchObject({ hasHeard: false, seen: 64 })
})

test('while a node of a cluster is away, the items of the other nodes are asked about', async () => {
  expect(await asked((item) => (item % 3 === 0 ? 'ERR_STORE_DOWN' : undefined))).toMatchObject({ hasHeard: false, seen: 300 })
})

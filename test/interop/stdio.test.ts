/** Our server with their clients and our client with their servers, each over the standard streams of a child process. */

import { describe, expect, test } from 'vitest'
import { describeEverything } from './everything.ts'
import { describeFilesystem } from './filesystem.ts'
import { Matrix } from './matrix.ts'
import { describeMemory } from './memory.ts'
import { describeNegotiation } from './negotiation.ts'
import { describeOurServer } from './our-server.ts'
import { describePaging } from './paging.ts'
import { describeSdkServer } from './sdk-server.ts'
import { connectV1Client } from './v1-client.ts'
import { connectV2Client } from './v2-client.ts'

const SESSION_REVISIONS = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25']
const STATELESS_REVISION = '2026-07-28'

const matrix = new Matrix([
  'v1 client',
  'v2 client legacy',
  'v2 client modern',
  'v1 server',
  'v2 server',
  'everything',
  'filesystem',
  'memory',
])

for (const revision of SESSION_REVISIONS) {
  describeOurServer({ matrix, peer: 'v1 client', revision, open: () => connectV1Client({ revisions: [revision] }) })
  describeOurServer({ matrix, peer: 'v2 client legacy', revision, open: () => connectV2Client({ mode: 'legacy', revision }) })
}
describeOurServer({
  matrix,
  peer: 'v2 client modern',
  revision: STATELESS_REVISION,
  open: () => connectV2Client({ mode: { pin: STATELESS_REVISION } }),
})

for (const revision of SESSION_REVISIONS) {
  describeSdkServer({ matrix, peer: 'v1 server', revision })
  describeSdkServer({ matrix, peer: 'v2 server', revision })
}
describeSdkServer({ matrix, peer: 'v2 server', revision: STATELESS_REVISION })
describeEverything(matrix)
describeFilesystem(matrix)
describeMemory(matrix)

describePaging('v1 client', (pageSize) => connectV1Client({ pageSize }))
describePaging('v2 client legacy', (pageSize) => connectV2Client({ mode: 'legacy', server: { pageSize } }))
describePaging('v2 client modern', (pageSize) => connectV2Client({ mode: { pin: STATELESS_REVISION }, server: { pageSize } }))

describeNegotiation(SESSION_REVISIONS)

describe('the matrix of peers and features', () => {
  test('the matrix of peers and features has no failure and no blank', () => {
    console.log(`Interoperation over stdio:\n\n${matrix}\n`)
    expect(matrix.failures).toEqual([])
  })
})

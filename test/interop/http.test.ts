/** Our server with their clients and our client with their servers, over every HTTP transport there has been. */

import { describe, expect, test } from 'vitest'
import { describeEverything } from './everything.ts'
import { describeGivenUp } from './given-up.ts'
import { describeHttpNegotiation } from './http-negotiation.ts'
import { describeInspector } from './inspector.ts'
import { Matrix } from './matrix.ts'
import { describeOurServer } from './our-server.ts'
import { describePaging } from './paging.ts'
import { describeSdkServer } from './sdk-server.ts'
import { describeStatelessServer } from './stateless-server.ts'
import { connectV1Client } from './v1-client.ts'
import { connectV2Client } from './v2-client.ts'

const SESSION_REVISIONS = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25']
const STATELESS_REVISION = '2026-07-28'

const matrix = new Matrix([
  'v1 client',
  'v1 client sse',
  'v2 client legacy',
  'v2 client sse',
  'v2 client modern',
  'inspector legacy',
  'inspector sse',
  'inspector auto',
  'inspector modern',
  'v1 server',
  'v1 server stateless',
  'v1 server sse',
  'v2 server',
  'v2 server stateless',
  'everything',
  'everything sse',
])

for (const revision of SESSION_REVISIONS) {
  const revisions = [revision]
  describeOurServer({ matrix, peer: 'v1 client', revision, over: 'http', open: () => connectV1Client({ revisions }, 'http') })
  describeOurServer({ matrix, peer: 'v1 client sse', revision, over: 'sse', open: () => connectV1Client({ revisions }, 'sse') })
  for (const [peer, over] of [
    ['v2 client legacy', 'http'],
    ['v2 client sse', 'sse'],
  ] as const)
    describeOurServer({ matrix, peer, revision, over, open: () => connectV2Client({ mode: 'legacy', revision, over }) })
}
describeOurServer({
  matrix,
  peer: 'v2 client modern',
  revision: STATELESS_REVISION,
  over: 'http',
  open: () => connectV2Client({ mode: { pin: STATELESS_REVISION }, over: 'http' }),
})
describeInspector({ matrix, peer: 'inspector legacy', era: 'legacy', over: 'http', revision: '2025-11-25' })
describeInspector({ matrix, peer: 'inspector sse', era: 'legacy', over: 'sse', revision: '2025-11-25' })
describeInspector({ matrix, peer: 'inspector auto', era: 'auto', over: 'http', revision: STATELESS_REVISION })
describeInspector({ matrix, peer: 'inspector modern', era: 'modern', over: 'http', revision: STATELESS_REVISION })
describeGivenUp()

for (const revision of SESSION_REVISIONS) {
  describeSdkServer({ matrix, peer: 'v1 server', revision, over: 'http' })
  describeSdkServer({ matrix, peer: 'v1 server sse', revision, over: 'sse' })
  describeSdkServer({ matrix, peer: 'v2 server', revision, over: 'http' })
  describeStatelessServer({ matrix, peer: 'v1 server stateless', revision })
  describeStatelessServer({ matrix, peer: 'v2 server stateless', revision })
}
describeSdkServer({ matrix, peer: 'v2 server', revision: STATELESS_REVISION, over: 'http' })
describeEverything(matrix, 'http')
describeEverything(matrix, 'sse')

describePaging('v1 client over http', (pageSize) => connectV1Client({ pageSize }, 'http'))
describePaging('v2 client modern over http', (pageSize) =>
  connectV2Client({ mode: { pin: STATELESS_REVISION }, server: { pageSize }, over: 'http' }),
)
describeHttpNegotiation(SESSION_REVISIONS)

describe('the matrix of peers and features', () => {
  test('the matrix of peers and features has no failure and no blank', () => {
    console.log(`Interoperation over HTTP:\n\n${matrix}\n`)
    expect(matrix.failures).toEqual([])
  })
})

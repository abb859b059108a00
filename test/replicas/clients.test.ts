/** The clients of the official SDKs against three replicas behind a balancer that chooses at random. */

import { describe, expect, test } from 'vitest'
import { Matrix } from '../interop/matrix.ts'
import { describeOurServer } from '../interop/our-server.ts'
import type { StartOurServer } from '../interop/their-client.ts'
import { connectV1Client } from '../interop/v1-client.ts'
import { connectV2Client } from '../interop/v2-client.ts'
import { STREAMABLE } from '../support/http-service.ts'
import { isProof } from '../support/proof.ts'
import { redisOfFile } from '../support/redis-server.ts'
import { LONG_LEASE_MS, startGroup } from './replica-group.ts'

const redisServer = redisOfFile()
const start: StartOurServer = async (options = {}) => {
  const group = await startGroup({
    redisUrl: (await redisServer()).url,
    leaseMs: LONG_LEASE_MS,
    program: 'everything.mjs',
    server: { ...options },
  })
  return { url: group.url, stop: () => group.close() }
}

const matrix = new Matrix(['v1 client', 'v2 client legacy', 'v2 client modern'])
/** `npm run proof` runs them all. */
const revisions = isProof ? STREAMABLE : ['2025-11-25']

for (const revision of revisions) {
  describeOurServer({
    matrix,
    peer: 'v1 client',
    revision,
    over: 'http',
    isReplicated: true,
    open: () => connectV1Client({ revisions: [revision] }, 'http', start),
  })
  describeOurServer({
    matrix,
    peer: 'v2 client legacy',
    revision,
    over: 'http',
    isReplicated: true,
    open: () => connectV2Client({ mode: 'legacy', revision, over: 'http', start }),
  })
}
describeOurServer({
  matrix,
  peer: 'v2 client modern',
  revision: '2026-07-28',
  over: 'http',
  isReplicated: true,
  open: () => connectV2Client({ mode: { pin: '2026-07-28' }, over: 'http', start }),
})

describe('the matrix of clients and features at replicas', () => {
  test('the matrix of clients and features has no failure and no blank', () => {
    console.log(`Clients at three replicas:\n\n${matrix}\n`)
    expect(matrix.failures).toEqual([])
  })
})

/** What a server does not offer, our client does not ask it for. */

import { expect } from 'vitest'
import type { Client } from '../../src/client/client.ts'
import { proves } from '../support/proves.ts'
import type { Matrix, PeerName } from './matrix.ts'

const USES = {
  resources: (client: Client) => client.resources().all(),
  subscribe: (client: Client) => client.watch('test://anything').next(),
  prompts: (client: Client) => client.prompts().all(),
  completion: (client: Client) => client.complete({ ref: { type: 'ref/prompt', name: 'any' }, argument: { name: 'any', value: '' } }),
  logging: (client: Client) => client.setLogLevel('debug'),
} as const

export function testCapabilityLacks(matrix: Matrix, peer: PeerName, feature: keyof typeof USES, client: () => Client): void {
  matrix.testLacks(peer, feature, `it does not declare ${feature}, and our client says so without sending anything`, async () => {
    proves('T-LIFE-013')
    await expect(USES[feature](client())).rejects.toMatchObject({ name: 'McpError', code: 'ERR_CAPABILITY_MISSING' })
  })
}

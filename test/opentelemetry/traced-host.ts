/** A host whose actions have spans, with one server that it may use without a question. */

import { createHost, type Host } from '../../src/host/index.ts'
import { allow } from '../../src/host/policy-tools/index.ts'
import { hostTelemetry } from '../../src/opentelemetry/index.ts'
import type { Server } from '../../src/server/index.ts'

/** @param folder where the host keeps its data */
export async function tracedHost(folder: string, server: Server): Promise<Host> {
  const host = await createHost({
    folder,
    keychain: false,
    telemetry: hostTelemetry(),
    policy: { session: [allow('all', { action: ['server.*', 'tool.*'], tier: 'trusted' })] },
    servers: {
      near: {
        transport: { type: 'memory', service: server },
        tier: 'trusted',
        provenance: [{ client: 'portico', scope: 'ours', file: '' }],
      },
    },
  })
  await host.enable('near')
  return host
}

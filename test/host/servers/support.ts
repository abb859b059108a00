/** What tests of supervised servers share: servers to supervise, and waiting for what happens outside of this process. */

import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterEach } from 'vitest'
import type { HttpTransport, InProcessTransport, ServerSpec, ServerTransport, StdioTransport } from '../../../src/host/model/server-spec.ts'
import { SupervisedServer } from '../../../src/host/servers/supervised.ts'
import type { SupervisedOptions } from '../../../src/host/servers/supervised-options.ts'
import type { Service } from '../../../src/protocol/interfaces/service.ts'

const FIXTURE = fileURLToPath(new URL('fixtures/server.mjs', import.meta.url))

export interface FixtureFlags {
  name?: string
  word?: string
  /** Where it writes down what it is sent. */
  record?: string
  /** Where it writes down its process id. */
  starts?: string
  /** How many starts fail. */
  failures?: number
  hangs?: boolean
}

export const processWay = (flags: FixtureFlags = {}): StdioTransport => ({
  type: 'stdio',
  command: process.execPath,
  args: [FIXTURE, JSON.stringify(flags)],
  env: {},
})

export const httpWay = (url: string): HttpTransport => ({ type: 'http', url, headers: {} })

export const memoryWay = (service: Service): InProcessTransport => ({ type: 'memory', service })

export const missingWay: StdioTransport = { type: 'stdio', command: '/nowhere/at/all', args: [], env: {} }

export const specOf = (transport: ServerTransport, id = 'one'): ServerSpec => ({ id, transport, tier: 'untrusted', provenance: [] })

const open = new Set<SupervisedServer>()
afterEach(async () => {
  await Promise.all([...open].map((server) => server.close()))
  open.clear()
})

/** Ended after the test. Every start is permitted unless `permit` is given. */
export function supervise(transport: ServerTransport, options: Partial<SupervisedOptions> = {}): SupervisedServer {
  const server = new SupervisedServer({ spec: specOf(transport), permit: async () => transport, ...options })
  open.add(server)
  return server
}

export { until } from '../../support/until.ts'

export const call = async (server: SupervisedServer, tool: string, args: Record<string, unknown> = {}): Promise<string> => {
  const { content } = await server.use((client) => client.call(tool, args))
  return content.map((block) => ('text' in block ? block.text : '')).join('')
}

export function linesOf(file: string): string[] {
  try {
    return readFileSync(file, 'utf8').split('\n').filter(Boolean)
  } catch {
    return []
  }
}

export const names = (items: readonly { name: string }[] | undefined): string[] => (items ?? []).map(({ name }) => name).sort()

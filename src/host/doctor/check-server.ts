/** Examines a server step by step: each loads the checks of its transport with the first call. */

import { Client } from '../../client/client.ts'
import { memoryTarget } from '../../client/memory-link.ts'
import type { Authorizer } from '../../protocol/interfaces/authorizer.ts'
import type { DirectConnection } from '../servers/hosted-server.ts'
import { Checkup, type CheckupFinding } from './checkup.ts'
import type { CommandCheckupOptions } from './command.ts'
import { countOffering } from './lists.ts'
import type { UrlCheckupOptions } from './url.ts'

/** Options for `host.checkup`. */
export interface CheckupOptions {
  /** Called after each step. */
  onFinding?(finding: CheckupFinding): void
  /** How long a step may take. Default: 10,000. */
  timeoutMs?: number
  /** Ends the checkup. */
  signal?: AbortSignal
}

/** The result of `host.checkup`. */
export interface CheckupReport {
  isHealthy: boolean
  findings: readonly CheckupFinding[]
}

/**
 * Examines a server that is a program: it exists, starts, answers, and writes only messages to its standard output.
 * @example
 * await checkCommand(checkup, { process: { command: 'node', args: ['server.mjs'] }, connect: {}, path: process.env.PATH ?? '', cwd: '.' })
 */
export const checkCommand = async (checkup: Checkup, options: CommandCheckupOptions): Promise<void> =>
  (await import('./command.ts')).checkCommand(checkup, options)

/**
 * Examines a server at a URL: DNS, TCP, TLS, HTTP, login metadata, negotiation.
 * @example
 * await checkUrl(checkup, 'https://example.com/mcp', { headers: {}, isInsecureAllowed: false, timeoutMs: 10_000, signal, connect })
 */
export const checkUrl = async (checkup: Checkup, url: string, options: UrlCheckupOptions): Promise<void> =>
  (await import('./url.ts')).checkUrl(checkup, url, options)

const TIMEOUT_MS = 10_000

/** Examines a server over a connection of its own. It never logs in: only tokens of earlier logins are used. */
export async function checkDirect(direct: DirectConnection, options: CheckupOptions): Promise<CheckupReport> {
  const { transport, protocol, authorize, scrub } = direct
  const { revisions, httpTransport } = protocol
  const { onFinding = () => {}, timeoutMs = TIMEOUT_MS, signal = new AbortController().signal } = options
  const clean = (finding: CheckupFinding): CheckupFinding => ({ ...finding, detail: scrub(finding.detail) })
  const checkup = new Checkup((finding) => onFinding(clean(finding)))
  const connect = { signal, limits: { timeoutMs, connectTimeoutMs: timeoutMs }, ...(revisions && { revisions }) }
  switch (transport.type) {
    case 'stdio': {
      const { command, args, env, cwd } = transport
      const started = { command, args, env, ...(cwd !== undefined && { cwd }) }
      await checkCommand(checkup, { process: started, connect, path: process.env.PATH ?? '', cwd: process.cwd() })
      break
    }
    case 'http': {
      const { url, headers } = transport
      await checkUrl(checkup, url, {
        headers,
        isInsecureAllowed: false,
        timeoutMs,
        signal,
        connect: async () => {
          const { httpTarget } = await import('../../http/client/target.ts')
          const how = { ...(httpTransport && { transport: httpTransport }), ...(authorize && { authorize: withoutLogin(authorize) }) }
          return Client.connect(httpTarget(url, { headers, ...how }), connect)
        },
      })
      break
    }
    case 'memory':
      await checkInProcess(checkup, async () => Client.connect(memoryTarget(transport.service), connect))
  }
  return { isHealthy: checkup.isHealthy, findings: checkup.findings.map(clean) }
}

const withoutLogin = (authorize: Authorizer): Authorizer => ({
  headers: (request) => authorize.headers(request),
  onUnauthorized: () => Promise.resolve(false),
  ...(authorize.extensions && { extensions: authorize.extensions }),
})

async function checkInProcess(checkup: Checkup, connect: () => Promise<Client>): Promise<void> {
  const client = await checkup.step('negotiation', async () => {
    const value = await connect()
    const { info } = value.server
    return { detail: `${info.title ?? info.name} ${info.version}, revision ${value.revision}`, value }
  })
  try {
    await checkup.step('lists', async () => ({ detail: await countOffering(client as Client), value: undefined }))
  } finally {
    await client?.close()
  }
}

/** Clients that make one call after the other while replicas and their store fail. */

import { Agent } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { http } from '../support/http-requests.ts'
import { initializeMessage } from '../support/http-service.ts'
import type { Message } from '../support/raw-channel.ts'
import type { Ledger } from './ledger.ts'
import type { ReplicaGroup } from './replica-group.ts'
import { type CallOptions, isCut, RETRY_MS, type ResumedCall, within } from './resumed-call.ts'

/**
 * A call without any event for so long hangs: the lease (5 s), 2 s more, and a margin for a machine that is busy with the whole storm. The
 * ledger also tells the longest wait, which shows how busy the machine was.
 */
const HUNG_MS = 120_000
const MAX_RETRY_MS = 1000
/** Small, so that opening is no storm of its own. */
const OPENED_AT_ONCE = 5

/** What two cores can do, with the clients and the balancer on the same machine. */
const EVENTS_PER_SECOND = 1500

/** Milliseconds between the events of a call if so many sessions call at the same time. */
export const pauseOf = (sessions: number): number => Math.ceil((sessions / EVENTS_PER_SECOND) * 1000)

export interface LoadOptions {
  version: string
  sessions: number
  isOver(): boolean
  /** Makes a call. */
  call(options: CallOptions): ResumedCall
  /** Of the clients. */
  capabilities?: Message
  /** A call without any event for so long hangs. Default: HUNG_MS */
  hungMs?: number
}

/** Opens sessions through the balancer. Each makes one call after the other until `isOver`. */
export async function runCalls({ url }: Pick<ReplicaGroup, 'url'>, ledger: Ledger, options: LoadOptions): Promise<void> {
  const { version, sessions, isOver, call, capabilities, hungMs = HUNG_MS } = options
  const agent = new Agent({ keepAlive: true })
  const one = async (first: Record<string, string>): Promise<void> => {
    let session = first
    let pause = RETRY_MS
    for (let id = 1; !isOver(); id++) {
      const outcome = await call({ url, session, id, ledger, agent, hungMs }).run()
      // Clients that repeat at once what was refused make an overload worse.
      if (outcome === 'refused') await sleep(pause)
      pause = outcome === 'refused' ? Math.min(MAX_RETRY_MS, pause * 2) : RETRY_MS
      if (outcome !== 'gone') continue
      ledger.sessionsLost++
      session = await openLoadSession(url, version, agent, capabilities)
    }
  }
  // A session calls as soon as it is open, so that none expires while the others are opened.
  const running: Promise<void>[] = []
  while (running.length < sessions && !isOver()) {
    const count = Math.min(OPENED_AT_ONCE, sessions - running.length)
    const batch = await Promise.all(Array.from({ length: count }, () => openLoadSession(url, version, agent, capabilities)))
    for (const session of batch) running.push(one(session))
  }
  await Promise.all(running)
  agent.destroy()
  if (ledger.failure !== undefined) throw ledger.failure
}

/** Opens a session, and tries again while servers come and go. */
async function openLoadSession(url: string, version: string, agent: Agent, capabilities?: Message): Promise<Record<string, string>> {
  const started = performance.now()
  let reason = ''
  for (let pause = RETRY_MS; ; pause = Math.min(MAX_RETRY_MS, pause * 2)) {
    try {
      const { status, headers, text } = await within(HUNG_MS, http(url, { body: initializeMessage(version, capabilities), agent }))
      const session = { 'mcp-session-id': String(headers['mcp-session-id']), 'mcp-protocol-version': version }
      if (status === 200) {
        const body = { jsonrpc: '2.0', method: 'notifications/initialized' }
        const ready = await within(HUNG_MS, http(url, { headers: session, body, agent }))
        if (ready.status === 202) return session
        reason = `initialized ${ready.status} ${ready.text}`
      } else if (status === 502 || status === 503) reason = `initialize ${status} ${text}`
      else throw new Error(`No session: ${status} ${text}`)
    } catch (error) {
      if (!isCut(error)) throw error
      reason = (error as Error).message
    }
    if (performance.now() - started > HUNG_MS) throw new Error(`No session could be opened; the last reason was: ${reason}`)
    await sleep(pause)
  }
}

/** Finds out which dialect a server uses: sends `server/discover` and falls back to the handshake. */

import { isObject } from '../base/json.ts'
import { orTimeout } from '../base/wait.ts'
import { METHOD_NOT_FOUND, type Params } from '../jsonrpc/message.ts'
import { RemoteError } from '../jsonrpc/remote-error.ts'
import { requestJson } from '../jsonrpc/write.ts'
import { McpError } from '../protocol/errors.ts'
import { META } from '../protocol/model/base.ts'
import type { ServerCapabilities } from '../protocol/model/lifecycle.ts'
import { describeRevisions } from '../revisions/index.ts'
import { chooseStateless, isBareVersionError, isModernError, offerHandshake, offerStateless, versionsIn } from '../revisions/negotiate.ts'
import type { Revision } from '../revisions/revision.ts'
import { type ClientDialect, checkResultType, implementationIn, type ServerDescription, serverInfoIn } from './dialect/dialect.ts'
import { ClientSession } from './dialect/session.ts'
import { ClientStateless, statelessCapabilities } from './dialect/stateless.ts'
import type { Verdict } from './dialect-memory.ts'
import type { OpenLink } from './open-link.ts'
import type { Settings } from './settings.ts'

/**
 * The dialect of the server is known, but this connection cannot be used for it, because server and client may have
 * different ideas of its state. A new connection is needed.
 */
export class OpenAgain extends Error {
  /** The dialect for the next connection. */
  readonly as: Verdict
  /** The error to report if the next connection fails too; undefined to report the new error. */
  readonly why: Error | undefined

  constructor(as: Verdict, why?: Error) {
    super(`The connection must be reopened for a ${as} server`)
    this.as = as
    this.why = why
  }
}

/** A process may take this many times as long to start as a server takes to answer the probe. */
const SLOW_START = 2

export interface Opening {
  /** The dialect from the memory, which may be outdated. */
  expected: Verdict | undefined
  /** Requests do not affect each other, as over HTTP: a handshake changes nothing for other requests. */
  hasIndependentRequests: boolean
}

/** Throws `OpenAgain` when a new connection is needed. */
export async function openDialect(openLink: OpenLink, settings: Settings, opening: Opening): Promise<ClientDialect> {
  const probe = new Probe(openLink, settings, opening)
  try {
    return await probe.open()
  } catch (error) {
    const { connectTimeoutMs, maxTotalMs } = settings.limits
    if (!(error instanceof McpError) || error.code !== 'ERR_TIMEOUT' || maxTotalMs < connectTimeoutMs) throw error
    const what = probe.asked.join(' and ')
    throw new McpError('ERR_TIMEOUT', `No answer to ${what} within ${connectTimeoutMs} ms (limits.connectTimeoutMs)`, { cause: error })
  }
}

class Probe {
  readonly #openLink: OpenLink
  readonly #settings: Settings
  readonly #opening: Opening
  readonly #startedAt: number
  /** The methods sent so far. */
  readonly asked: string[] = []

  constructor(openLink: OpenLink, settings: Settings, opening: Opening) {
    this.#openLink = openLink
    this.#settings = settings
    this.#opening = opening
    this.#startedAt = settings.clock.now()
  }

  async open(): Promise<ClientDialect> {
    const { expected } = this.#opening
    const stateless = offerStateless(this.#settings.supported)
    const handshake = offerHandshake(this.#settings.supported)
    if (!stateless || (expected === 'session' && handshake)) return this.#shakeHands()
    this.asked.push('server/discover')
    const given = new AbortController()
    const discovery = discover(this.#openLink, this.#settings, stateless, given.signal)
    if (!handshake) return this.#stateless(await discovery)
    // A server that answered a probe before is given the full time, because it may be slow to start.
    const early = expected === 'stateless' ? await discovery : await this.#early(discovery)
    if (early) return early.kind === 'legacy' ? this.#afterProbe(this.#shakeHands(), early) : this.#stateless(early)
    const dialect = await this.#openBoth(discovery)
    given.abort(new DOMException('The server has answered the handshake', 'AbortError'))
    return dialect
  }

  /**
   * The answer to the probe; undefined when the handshake must be tried too. A process that has written nothing may still be starting:
   * it would read probe and handshake together, and a server that knows both would take the handshake.
   */
  #early(discovery: Promise<Discovery>): Promise<Discovery | undefined> {
    const { clock, limits } = this.#settings
    const startMs = Math.min(SLOW_START * limits.probeTimeoutMs, limits.connectTimeoutMs / 2)
    const mayStart = (): boolean => this.#openLink.isStarting && clock.now() - this.#startedAt < startMs
    return within(discovery, this.#openLink, this.#settings, mayStart)
  }

  #shakeHands(signal?: AbortSignal): Promise<ClientSession> {
    this.asked.push('initialize')
    const { clock, limits } = this.#settings
    const left = limits.connectTimeoutMs - (clock.now() - this.#startedAt)
    const timeoutMs = Math.max(left, Math.min(limits.probeTimeoutMs, limits.connectTimeoutMs))
    return ClientSession.open(this.#openLink, this.#settings, { timeoutMs, ...(signal ? { signal } : {}) })
  }

  /** The handshake with a server that did not answer the probe as a stateless server. */
  async #afterProbe(session: Promise<ClientSession>, { why, strange }: Omit<Legacy, 'kind'>): Promise<ClientSession> {
    try {
      return await session
    } catch (error) {
      // The server has no handshake either, and none of the versions that it listed is supported.
      const hasNoHandshake = error instanceof McpError && error.code === 'ERR_NO_ENDPOINT'
      const doesNotKnowIt = error instanceof RemoteError && error.code === METHOD_NOT_FOUND
      if (strange && (hasNoHandshake || doesNotKnowIt)) throw versionError(strange, this.#settings, error)
      if (!(error instanceof RemoteError)) throw error
      // A bridge may open its own session at the first request and then refuse the handshake.
      if (!this.#opening.hasIndependentRequests) throw new OpenAgain('session', why)
      throw why ?? error
    }
  }

  /** The probe was not answered in time, so the handshake is tried too. Both requests stay open. */
  async #openBoth(discovery: Promise<Discovery>): Promise<ClientDialect> {
    const given = new AbortController()
    const session = this.#shakeHands(given.signal)
    const answered = session.then(
      () => 'opened' as const,
      () => 'refused' as const,
    )
    // If the probe fails, the handshake decides.
    const probed = discovery.catch(() => answered)
    const first = await Promise.race([probed, answered])
    if (first === 'opened') return session
    if (first === 'refused') {
      // A stateless server that was slow to start may still answer the probe.
      const late = await within(
        discovery.catch(() => undefined),
        this.#openLink,
        this.#settings,
      )
      return late?.kind === 'stateless' ? this.#stateless(late) : this.#afterProbe(session, {})
    }
    if (first.kind === 'legacy') return this.#afterProbe(session, first)
    if (this.#opening.hasIndependentRequests) {
      given.abort()
      return this.#stateless(first)
    }
    // The handshake was already sent. If the server accepts it, it expects a session from then on.
    const next = await within(answered, this.#openLink, this.#settings)
    if (next === 'opened') return session
    if (next === 'refused') return this.#stateless(first)
    throw new OpenAgain('stateless')
  }

  #stateless(discovered: Discovery): ClientStateless {
    if (discovered.kind === 'stateless') return new ClientStateless(this.#openLink, this.#settings, discovered.revision, discovered.server)
    const { supported } = this.#settings
    if (discovered.why) throw discovered.why
    throw new McpError('ERR_VERSION_UNSUPPORTED', `The server does not support ${describeRevisions(supported)}; it needs a handshake`)
  }
}

type Discovery = { kind: 'stateless'; revision: Revision; server: ServerDescription } | Legacy

interface Legacy {
  kind: 'legacy'
  /** The problem with the answer, if any. */
  why?: Error
  /** The versions of the server, if none of them is supported. */
  strange?: string[] | undefined
}

/** Resolves with `legacy` for every answer that is not from a stateless server. */
async function discover(
  openLink: OpenLink,
  settings: Settings,
  revision: Revision,
  signal: AbortSignal,
  isRetry = false,
): Promise<Discovery> {
  const meta = {
    [META.protocolVersion]: revision.version,
    [META.clientInfo]: settings.info,
    [META.clientCapabilities]: statelessCapabilities(settings),
  }
  openLink.version = revision.version
  try {
    const result = await openLink.request('server/discover', {}, (id) => requestJson(id, 'server/discover', { _meta: meta }), {
      timeoutMs: settings.limits.connectTimeoutMs,
      signal,
    })
    const fault = checkResultType('server/discover', result)
    if (fault) return { kind: 'legacy', why: fault }
    const chosen = chooseStateless(result.supportedVersions, settings.supported)
    if (chosen) return { kind: 'stateless', revision: chosen, server: describe(result) }
    return { kind: 'legacy', strange: versionsIn({ supported: result.supportedVersions }) }
  } catch (error) {
    if (error instanceof McpError && error.code === 'ERR_NO_ENDPOINT') return { kind: 'legacy' }
    // Old servers answer unknown methods in many ways.
    if (error instanceof McpError && error.code === 'ERR_ANSWER_INVALID') return { kind: 'legacy', why: error }
    if (!(error instanceof RemoteError)) throw error
    if (!isModernError(error.code) || isBareVersionError(error.code, error.data)) return { kind: 'legacy' }
    const theirs = versionsIn(error.data)
    const other = chooseStateless(theirs, settings.supported)
    // A server that is being updated may refuse a version that it lists. Retry once.
    if (other && !isRetry) return discover(openLink, settings, other, signal, true)
    if (
      other === undefined &&
      theirs &&
      settings.supported.some(({ version, dialect }) => dialect === 'session' && theirs.includes(version))
    )
      return { kind: 'legacy' }
    throw versionError(theirs, settings, error)
  }
}

function versionError(theirs: readonly string[] | undefined, settings: Settings, cause: unknown): McpError {
  const message = `The server supports ${theirs?.join(', ') ?? 'another revision'}; this client supports ${describeRevisions(settings.supported)}`
  return new McpError('ERR_VERSION_UNSUPPORTED', message, { cause })
}

function describe(result: Params): ServerDescription {
  const { capabilities, instructions } = result
  return {
    // Drafts of the revision had it next to the capabilities.
    info: serverInfoIn(result) ?? implementationIn(result.serverInfo) ?? { name: 'unnamed', version: '' },
    capabilities: isObject(capabilities) ? (capabilities as ServerCapabilities) : {},
    instructions: typeof instructions === 'string' ? instructions : undefined,
  }
}

/** The result of `promise`; undefined when it takes longer than a probe may. */
const within = <T>(
  promise: Promise<T>,
  openLink: OpenLink,
  { deadlines, limits }: Settings,
  isHeld = (): boolean => false,
): Promise<T | undefined> =>
  orTimeout(promise, { deadlines, ms: limits.probeTimeoutMs, isHeld: () => openLink.isHeld || isHeld() }, () => undefined)

/** The messages of one client: routes each request to the dialect it speaks. */

import type { Deadlines } from '../base/deadlines.ts'
import { isObject } from '../base/json.ts'
import { ownSlice } from '../base/text/own-slice.ts'
import type { Exchange } from '../jsonrpc/exchange.ts'
import { type EndpointFailure, type EndpointHandler, JsonRpcEndpoint } from '../jsonrpc/json-rpc-endpoint.ts'
import { isId, type NotificationMessage, type Params } from '../jsonrpc/message.ts'
import { type ScanBounds, scan } from '../jsonrpc/scan.ts'
import { McpError } from '../protocol/errors.ts'
import type { Access } from '../protocol/interfaces/access.ts'
import type { ChannelOptions } from '../protocol/interfaces/service.ts'
import type { Implementation } from '../protocol/model/base.ts'
import type { ClientCapabilities } from '../protocol/model/lifecycle.ts'
import { revisionOf } from '../revisions/index.ts'
import type { Revision } from '../revisions/revision.ts'
import { route } from '../revisions/route.ts'
import type { AcceptedMember } from './addition.ts'
import { Session } from './dialect/session.ts'
import { runStateless } from './dialect/stateless.ts'
import { dispatch, toErrorObject } from './dispatch.ts'
import { type Caller, type Dialect, IncomingCall, normalCapabilities } from './incoming-call.ts'
import { Quota } from './quota.ts'
import type { ServerState } from './server-state.ts'
import { Listener } from './subscriptions.ts'

const NO_PARAMS: Params = Object.freeze({})
const encoder = new TextEncoder()

/** A reason longer than this is cut: it is only shown and logged. */
const MAX_REASON_CHARS = 1000

/** Open listen requests of one channel. A client needs one; each may name `maxSubscriptions` resources. */
const MAX_LISTENS = 16

/**
 * Limits for what stays in memory as long as the session: bytes as JSON, and values, because a small value takes much more memory than
 * its text. Names and versions are short, and a client has a few icons; capabilities may contain a few dozen extensions.
 */
const MAX_CLIENT_INFO = { bytes: 4 * 1024, values: 50 }
const MAX_CAPABILITIES = { bytes: 8 * 1024, values: 200 }

/** A server may hold many thousands of these, most of them idle, so the parts are created on first use. */
export class ClientMessages implements EndpointHandler {
  readonly peer: JsonRpcEndpoint
  readonly #serverState: ServerState
  readonly #options: ChannelOptions
  #ownQuota: Quota | undefined
  #listeners: Set<Listener> | undefined
  #session: Session | undefined
  /** The revision of the last request, for errors about messages that name none. */
  #lastRevision: Revision | undefined

  constructor(serverState: ServerState, options: ChannelOptions) {
    this.#serverState = serverState
    this.#options = options
    this.peer = new JsonRpcEndpoint(this)
    const assumed = revisionOf(options.assumed)
    if (assumed) this.#begin(assumed, undefined, undefined).onInitialized()
    const state = options.shared?.state
    if (state) this.#begin(serverState.revision(state.version), state.capabilities, state.client)
  }

  /** Undefined before `initialize`, and for clients that send stateless requests only. */
  get session(): Session | undefined {
    return this.#session
  }

  endSession(): void {
    this.#session?.close()
    this.#session = undefined
  }

  endListeners(): void {
    for (const listener of this.#listeners ?? []) listener.end()
  }

  failure(code: EndpointFailure, message: string, cause?: unknown): McpError {
    return new McpError(code, message, { cause })
  }

  acceptsBatch(): boolean {
    return this.#session?.revision.hasBatches ?? false
  }

  unreadableId(): null | undefined {
    return this.#lastRevision?.omitsUnreadableId ? undefined : null
  }

  get deadlines(): Deadlines {
    return this.#serverState.deadlines
  }

  get maxActive(): number {
    return this.#serverState.limits.maxActive
  }

  get maxWaiting(): number {
    return this.#serverState.limits.maxWaiting
  }

  get #quota(): Quota {
    const { principal, shared, address } = this.#options
    // All sessions of one principal share a quota, and so do all requests of a shared session.
    const account = principal ?? shared?.account
    this.#ownQuota ??=
      account === undefined ? new Quota(this.#serverState, account, address) : this.#serverState.quotas.of(account, address)
    return this.#ownQuota
  }

  onRequest(exchange: Exchange): void {
    const { revision, error } = route(exchange, this.#session?.revision, this.#serverState.supported)
    this.#lastRevision = revision
    if (error) return exchange.fail(toErrorObject(error, revision))
    if (revision.dialect === 'stateless') {
      return runStateless(exchange, revision, {
        serverState: this.#serverState,
        principal: this.#options.principal,
        quota: this.#quota,
        listen: (call, accepted) => this.#listen(call, accepted),
      })
    }
    this.#session?.onAccess(exchange.outlet.sender as Access)
    const params = exchange.params ? revision.downgradeParams(exchange.method, exchange.params) : NO_PARAMS
    const isFirst = this.#session === undefined || (this.#options.beginsAnew === true && exchange.method === 'initialize')
    const dialect = isFirst ? new Opening(revision, this.#options.principal, (call) => this.#initialize(call)) : (this.#session as Session)
    dispatch(new IncomingCall(exchange, params, revision, dialect, this.#quota), this.#serverState)
  }

  /** `params` holds only members that the agreed revision knows. */
  #initialize({ params, revision, access }: IncomingCall): Params {
    const { protocolVersion, capabilities, clientInfo } = params
    if (typeof protocolVersion !== 'string' || protocolVersion === '') {
      const data = {
        supported: this.#serverState.supported.filter(({ dialect }) => dialect === 'session').map(({ version }) => version),
        requested: protocolVersion ?? null,
      }
      throw new McpError('ERR_INVALID_PARAMS', 'params.protocolVersion must be a protocol version', { data })
    }
    if (!isObject(capabilities)) throw new McpError('ERR_INVALID_PARAMS', 'params.capabilities must be an object')
    if (!isObject(clientInfo) || typeof clientInfo.name !== 'string' || typeof clientInfo.version !== 'string') {
      throw new McpError('ERR_INVALID_PARAMS', 'params.clientInfo must have the strings "name" and "version"')
    }
    refuseLarge('clientInfo', clientInfo, 'maxClientInfo', MAX_CLIENT_INFO)
    refuseLarge('capabilities', capabilities, 'maxCapabilities', MAX_CAPABILITIES)
    const declared = normalCapabilities(capabilities as ClientCapabilities)
    const client = clientInfo as unknown as Implementation
    const session = this.#begin(revision, declared, client)
    const { instructions, info } = this.#serverState
    const { principal, isPrivate, shared } = this.#options
    const { version } = revision
    const logLevel = session.logLevel()
    shared?.begin({ version, capabilities: declared, client, logLevel, isReady: false, subscriptions: {}, scopes: access?.scopes })
    const result: Params = {
      protocolVersion: revision.version,
      capabilities: this.#serverState.capabilities(this.#canTell, revision, (principal ?? isPrivate) !== undefined),
      serverInfo: info,
    }
    if (instructions !== undefined) result.instructions = instructions
    return result
  }

  /** False on a transport that cannot send messages outside of a request. */
  get #canTell(): boolean {
    return this.#options.outlet.canPush !== false
  }

  #begin(revision: Revision, capabilities: ClientCapabilities | undefined, client: Implementation | undefined): Session {
    const { outlet, principal, isPrivate = false, shared } = this.#options
    const session = new Session({
      serverState: this.#serverState,
      peer: this.peer,
      outlet,
      quota: () => this.#quota,
      principal,
      isPrivate,
      shared,
      revision,
      capabilities,
      client,
    })
    // Subscriptions and questions of the previous session end. Its open requests are still answered.
    this.#session?.close()
    this.#session = session
    return session
  }

  #listen(call: IncomingCall, accepted: readonly AcceptedMember[]): Promise<Params> {
    const listeners = this.#listeners ?? new Set()
    this.#listeners = listeners
    if (listeners.size >= MAX_LISTENS) {
      const data = { reason: 'limit', limit: 'maxListens', max: MAX_LISTENS }
      throw new McpError('ERR_LIMIT', `Too many open listen requests: at most ${MAX_LISTENS}`, { data })
    }
    const listener = new Listener(call.exchange, call, this.#serverState, true, accepted)
    listeners.add(listener)
    return listener.run(() => listeners.delete(listener))
  }

  onNotification({ method, params }: NotificationMessage): void {
    switch (method) {
      case 'notifications/cancelled': {
        const id = params?.requestId
        if (!isId(id)) return
        const reason = params?.reason
        const said = typeof reason === 'string' ? `: ${ownSlice(reason, MAX_REASON_CHARS)}` : ''
        this.peer.cancel(id, new DOMException(`The client cancelled the request${said}`, 'AbortError'))
        return
      }
      case 'notifications/initialized':
        return this.#session?.onInitialized()
      case 'notifications/roots/list_changed':
        return this.#session?.onRootsChanged()
      case 'notifications/progress': {
        const token = params?.progressToken
        if (isId(token)) this.peer.touch(token)
        return
      }
      default: {
        const revision = this.#session?.revision ?? this.#lastRevision
        if (revision) for (const each of this.#serverState.additions) each.notice?.(method, params ?? NO_PARAMS, revision)
      }
    }
  }
}

/** The dialect before a session exists: only `initialize` and `ping` are answered. */
class Opening implements Dialect {
  readonly #revision: Revision
  readonly #principal: string | undefined
  readonly #initialize: (call: IncomingCall) => Params

  constructor(revision: Revision, principal: string | undefined, initialize: (call: IncomingCall) => Params) {
    this.#revision = revision
    this.#principal = principal
    this.#initialize = initialize
  }

  caller(): Omit<Caller, 'auth'> {
    return { principal: this.#principal, client: undefined, capabilities: {}, revision: this.#revision.version }
  }

  asker(): never {
    throw new McpError('ERR_ASK', 'The client cannot be asked before the session is initialized')
  }

  logLevel(): undefined {
    return undefined
  }

  requirePages(_call: IncomingCall, error: McpError): never {
    throw error
  }

  method(call: IncomingCall): Params | undefined {
    if (call.method === 'ping') return {}
    return call.method === 'initialize' ? this.#initialize(call) : undefined
  }
}

/** @param limit begins the names of the limits in the data of the error */
function refuseLarge(member: string, value: unknown, limit: string, max: { bytes: number; values: number }): void {
  const json = JSON.stringify(value)
  const tally = { values: 0 }
  scan(json, UNBOUNDED, 0, json.length, tally)
  refuseMore(`params.${member}`, 'bytes as JSON', encoder.encode(json).length, `${limit}Bytes`, max.bytes)
  refuseMore(`params.${member}`, 'values', tally.values, `${limit}Values`, max.values)
}

function refuseMore(what: string, unit: string, count: number, limit: string, max: number): void {
  if (count <= max) return
  const message = `${what} has ${count} ${unit}; at most ${max} are accepted (${limit})`
  throw new McpError('ERR_LIMIT', message, { data: { reason: 'limit', limit, max } })
}

/** The message was checked when it came. */
const UNBOUNDED: ScanBounds = { maxDepth: Infinity, maxKeys: Infinity, maxValues: Infinity }

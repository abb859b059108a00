/** Change notices: which subscription covers which change, and open `subscriptions/listen` requests. */

import { isObject } from '../base/json.ts'
import type { Exchange } from '../jsonrpc/exchange.ts'
import type { Params } from '../jsonrpc/message.ts'
import { notificationJson } from '../jsonrpc/write.ts'
import { McpError } from '../protocol/errors.ts'
import { type Access, demand, permits } from '../protocol/interfaces/access.ts'
import type { Change } from '../protocol/interfaces/replaceable-services.ts'
import { META } from '../protocol/model/base.ts'
import type { SubscriptionFilter } from '../protocol/model/subscriptions.ts'
import { MAX_URI_LENGTH } from '../protocol/uri-template/index.ts'
import type { AcceptedMember } from './addition.ts'
import type { ChangeListener } from './change-listeners.ts'
import type { IncomingCall } from './incoming-call.ts'
import type { ServerLimits } from './limits.ts'
import { scopesOfAll } from './required-scopes.ts'
import type { ServerState } from './server-state.ts'

/** The notification for a change. */
export function changeNotice(change: Change): { method: string; params: Params | undefined } {
  if (change.kind === 'resource') return { method: 'notifications/resources/updated', params: { uri: change.uri } }
  if (change.kind === 'extension') return change
  return { method: `notifications/${change.kind}/list_changed`, params: undefined }
}

/** The changes of these lists and resources. */
export const wantedChanges = (hears: (kind: 'tools' | 'prompts' | 'resources') => boolean, uris: Iterable<string>): Change[] => [
  ...(['tools', 'prompts', 'resources'] as const).filter(hears).map((kind) => ({ kind })),
  ...[...uris].map((uri) => ({ kind: 'resource' as const, uri })),
]

const SUBSCRIPTION_CHARS = 64 * 1024
const CHARS_PER_SUBSCRIPTION = 64

/** The total length of the URIs that one client subscribes to: it bounds their memory, and grows with `maxSubscriptions`. */
export const maxSubscriptionChars = ({ maxSubscriptions }: ServerLimits): number =>
  Math.max(SUBSCRIPTION_CHARS, CHARS_PER_SUBSCRIPTION * maxSubscriptions)

/** A subscription covers the resource and all resources below it. */
export const covers = (subscribed: string, changed: string): boolean =>
  changed === subscribed || changed.startsWith(subscribed.endsWith('/') ? subscribed : `${subscribed}/`)

/** One `subscriptions/listen` request. It stays open until either side ends it. */
export class Listener implements ChangeListener {
  readonly #exchange: Exchange
  readonly #filter: SubscriptionFilter
  readonly #uris: ReadonlySet<string>
  readonly #serverState: ServerState
  readonly #tellsEnd: boolean
  readonly #accepted: readonly AcceptedMember[]
  readonly #caller: string | undefined
  readonly #weight: number
  #end: () => void = () => {}

  /**
   * @param tellsEnd whether to send a notification at the end, for a transport where the request has no stream of its own
   * @param accepted what extensions agreed to
   */
  constructor(
    exchange: Exchange,
    { params, quota }: IncomingCall,
    serverState: ServerState,
    tellsEnd: boolean,
    accepted: readonly AcceptedMember[],
  ) {
    this.#exchange = exchange
    this.#serverState = serverState
    this.#tellsEnd = tellsEnd
    this.#accepted = accepted
    this.#filter = honoured(params.notifications, serverState)
    const { resourceSubscriptions = [] } = this.#filter
    this.#uris = new Set(resourceSubscriptions)
    demand(exchange.outlet.sender as Access, scopesOfAll(resourceSubscriptions, serverState))
    const ids = accepted.flatMap(({ value }) => (Array.isArray(value) ? value.map(String) : []))
    this.#caller = quota.taskAccount
    this.#weight = serverState.subscriptionCounts.take(this.#caller, [...resourceSubscriptions, ...ids])
  }

  /** Acknowledges the request, then sends notices. Resolves when the server ends it. */
  run(onOver: () => void): Promise<Params> {
    const { id } = this.#exchange
    const about = { [META.subscriptionId]: id }
    const notifications: Params = { ...this.#filter }
    for (const { name, value } of this.#accepted) notifications[name] = value
    void this.#exchange.push(notificationJson('notifications/subscriptions/acknowledged', { _meta: about, notifications }))
    this.#serverState.changeListeners.add(this)
    return new Promise<Params>((resolve) => {
      // The client may have cancelled the request while extensions looked at it.
      if (this.#exchange.isOver) resolve({})
      this.#end = () => resolve({ _meta: about })
      this.#exchange.onAborted(this.#end)
    }).finally(() => {
      this.#serverState.changeListeners.delete(this)
      this.#serverState.subscriptionCounts.give(this.#caller, this.#weight)
      onOver()
    })
  }

  tell(change: Change): undefined | Promise<void> {
    if (!this.#wants(change)) return undefined
    const { method, params } = changeNotice(change)
    const about = { [META.subscriptionId]: this.#exchange.id }
    return this.#exchange.push(notificationJson(method, { ...params, _meta: about }))
  }

  wanted(): Change[] {
    return wantedChanges((kind) => this.#filter[`${kind}ListChanged`] === true, this.#uris)
  }

  /** Ends the request with a result, so that the client knows that this is not a failure. */
  end(): void {
    if (this.#tellsEnd && !this.#exchange.isOver) {
      const { id } = this.#exchange
      const params = { requestId: id, reason: 'The server ended the subscription', _meta: { [META.subscriptionId]: id } }
      void this.#exchange.push(notificationJson('notifications/cancelled', params))
    }
    this.#end()
  }

  #wants(change: Change): boolean {
    switch (change.kind) {
      case 'tools':
        return this.#filter.toolsListChanged === true
      case 'prompts':
        return this.#filter.promptsListChanged === true
      case 'resources':
        return this.#filter.resourcesListChanged === true
      case 'resource':
        return this.#hears(change.uri)
      case 'extension':
        return this.#accepted.some(({ id, matches }) => id === change.id && matches(change.method, change.params))
    }
  }

  /** A resource below a subscribed one may need other scopes than that one. */
  #hears(changed: string): boolean {
    const isCovered = this.#uris.has(changed) || this.#filter.resourceSubscriptions?.some((uri) => covers(uri, changed))
    return isCovered === true && permits(this.#exchange.outlet.sender as Access, this.#serverState.resources.scopesOf(changed))
  }
}

/** The part of the requested notices that this server can send. */
function honoured(wanted: unknown, serverState: ServerState): SubscriptionFilter {
  if (!isObject(wanted)) throw new McpError('ERR_INVALID_PARAMS', 'params.notifications must be an object')
  const filter: SubscriptionFilter = {}
  if (wanted.toolsListChanged === true && serverState.tools.isOffered) filter.toolsListChanged = true
  if (wanted.promptsListChanged === true && serverState.prompts.isOffered) filter.promptsListChanged = true
  if (wanted.resourcesListChanged === true && serverState.resources.isOffered) filter.resourcesListChanged = true
  const uris = wanted.resourceSubscriptions
  if (uris !== undefined) {
    if (!Array.isArray(uris) || uris.some((uri) => typeof uri !== 'string'))
      throw new McpError('ERR_INVALID_PARAMS', 'params.notifications.resourceSubscriptions must be a list of URIs')
    if (uris.length > serverState.limits.maxSubscriptions) throw tooMany(serverState.limits.maxSubscriptions)
    const long = (uris as string[]).find(({ length }) => length > MAX_URI_LENGTH)
    if (long !== undefined)
      throw new McpError(
        'ERR_INVALID_PARAMS',
        `A URI in params.notifications.resourceSubscriptions has ${long.length} characters; at most ${MAX_URI_LENGTH} are accepted`,
      )
    const max = maxSubscriptionChars(serverState.limits)
    if (lengthOf(uris as string[]) > max) throw tooLong(max)
    if (serverState.resources.isOffered) filter.resourceSubscriptions = uris as string[]
  }
  return filter
}

/** The total length of the URIs. */
function lengthOf(uris: Iterable<string>): number {
  let length = 0
  for (const uri of uris) length += uri.length
  return length
}

export const tooLong = (max: number): McpError =>
  new McpError('ERR_LIMIT', `The URIs of all subscriptions are too long together: at most ${max} characters`, {
    data: { reason: 'limit', limit: 'maxSubscriptionBytes', max },
  })

export const tooMany = (max: number): McpError =>
  new McpError('ERR_LIMIT', `Too many subscriptions: at most ${max} (limits.maxSubscriptions)`, {
    data: { reason: 'limit', limit: 'maxSubscriptions', max },
  })

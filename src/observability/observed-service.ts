/** A server whose requests are recorded, on any transport. */

import { callObserver } from '../base/call-observer.ts'
import type { Incoming, RequestMessage } from '../jsonrpc/message.ts'
import type { Outlet } from '../jsonrpc/outlet.ts'
import type { Channel, EndCause, Service } from '../protocol/interfaces/service.ts'
import { type Conversation, describeClient, ObservedBatch, ObservedOutlet, type OnRequest } from './observed-outlet.ts'
import { PassingChannel } from './passing-channel.ts'

/**
 * A server that calls `onRequest` for each request. Pass it to a transport instead of the server. `listen` and `httpHandler` have an option
 * of the same name.
 *
 * @example
 * import { observed } from 'portico/observability'
 *
 * serveStdio(observed(server, ({ method, target, outcome, durationMs }) => console.error(method, target, outcome, durationMs)))
 */
export function observed(service: Service, onRequest: OnRequest): Service {
  const report: OnRequest = (record) => callObserver('onRequest', () => onRequest(record))
  return {
    name: service.name,
    versions: service.versions,
    mirroredParams: (tool) => service.mirroredParams(tool),
    requiredScopes: (request) => service.requiredScopes(request),
    hasTool: (name) => service.hasTool(name),
    ...(service.onAnnouncement && { onAnnouncement: service.onAnnouncement.bind(service) }),
    ...(service.onRemoteChange && { onRemoteChange: service.onRemoteChange.bind(service) }),
    ...(service.onMissedChanges && { onMissedChanges: service.onMissedChanges.bind(service) }),
    ...(service.isRestartable && { isRestartable: service.isRestartable.bind(service) }),
    ...(service.onSessionEnd && { onSessionEnd: service.onSessionEnd.bind(service) }),
    ...(service.shareWith && { shareWith: service.shareWith.bind(service) }),
    ...(service.serveTasks && { serveTasks: service.serveTasks.bind(service) }),
    ...(service.useKeys && { useKeys: service.useKeys.bind(service) }),
    ...(service.useLimits && { useLimits: service.useLimits.bind(service) }),
    answer: (request, outlet, sender) => service.answer(request, new ObservedOutlet(outlet, request, sender, report), sender),
    open: (options) => new ObservedChannel(service.open(options), options.principal, report, describeClient(options.shared?.state?.client)),
  }
}

class ObservedChannel extends PassingChannel implements Conversation {
  readonly principal: string | undefined
  readonly #report: OnRequest
  client: string | undefined
  cause: EndCause | undefined

  /** @param client of a session that began at another channel */
  constructor(channel: Channel, principal: string | undefined, report: OnRequest, client: string | undefined) {
    super(channel)
    this.client = client
    this.principal = principal
    this.#report = report
  }

  receive(message: Incoming, outlet: Outlet): void {
    if (message.kind === 'request') {
      if (message.method === 'initialize') this.client = describeClient(message.params?.clientInfo)
      return this.inner.receive(message, new ObservedOutlet(outlet, message, this, this.#report))
    }
    const requests = message.kind === 'batch' ? message.messages.filter(isRequest) : []
    this.inner.receive(message, requests.length > 0 ? new ObservedBatch(outlet, requests, this, this.#report) : outlet)
  }

  override close(reason: string, cause?: EndCause): void {
    this.cause = cause
    super.close(reason, cause)
  }
}

const isRequest = (message: { kind: string }): message is RequestMessage => message.kind === 'request'

/** How long the sessions of a server last. */

import type { Incoming } from '../jsonrpc/message.ts'
import type { Outlet } from '../jsonrpc/outlet.ts'
import { PassingChannel } from '../observability/passing-channel.ts'
import { PassingOutlet } from '../observability/passing-outlet.ts'
import type { ChannelOptions, EndCause, Service, SharedSession } from '../protocol/interfaces/service.ts'
import { record } from './operation.ts'

/**
 * Measures how long sessions last (`mcp.server.session.duration`). Pass the result to a transport instead of the server. A session of
 * several replicas is measured when its client ends it, and not when it expires: no replica sees that.
 *
 * @example
 * import { sessionTelemetry } from 'portico/opentelemetry'
 *
 * await listen(sessionTelemetry(server))
 */
export function sessionTelemetry(service: Service): Service {
  return {
    ...service,
    open: (options) => {
      const { shared } = options
      if (shared) return service.open({ ...options, shared: shared.state ? shared : beginning(shared) })
      return new MeasuredChannel(service, options)
    },
    onSessionEnd: (state) => {
      if (state.begunAt !== undefined) measure(Date.now() - state.begunAt, state.version)
      service.onSessionEnd?.(state)
    },
  }
}

/** Keeps the time of the handshake with the session. */
const beginning = (shared: SharedSession): SharedSession => ({
  ...shared,
  begin: (state) => shared.begin({ ...state, begunAt: Date.now() }),
})

function measure(durationMs: number, version: string): void {
  const attributes = { 'mcp.protocol.version': version }
  record('mcp.server.session.duration', 'Time from the handshake of a session to its end.', Math.max(0, durationMs), attributes)
}

class MeasuredChannel extends PassingChannel {
  #begunAt: number | undefined

  constructor(service: Service, options: ChannelOptions) {
    super(service.open(options))
  }

  receive(message: Incoming, outlet: Outlet): void {
    if (message.kind !== 'request' || message.method !== 'initialize') return this.inner.receive(message, outlet)
    const before = this.inner.version
    const begunAt = performance.now()
    const begin = (): void => {
      // On a pipe the next client begins a new session.
      this.#end(before)
      this.#begunAt = begunAt
    }
    this.inner.receive(message, new HandshakeOutlet(outlet, begin))
  }

  override close(reason: string, cause?: EndCause): void {
    const { version } = this
    super.close(reason, cause)
    this.#end(version)
  }

  #end(version: string | undefined): void {
    if (this.#begunAt !== undefined && version !== undefined) measure(performance.now() - this.#begunAt, version)
    this.#begunAt = undefined
  }
}

/** Sees that the handshake succeeds, before its answer is written. */
class HandshakeOutlet extends PassingOutlet {
  readonly #onSuccess: () => void

  constructor(outlet: Outlet, onSuccess: () => void) {
    super(outlet)
    this.#onSuccess = onSuccess
  }

  answer(json: string, errorCode?: number, retryAfterS?: number): void {
    if (errorCode === undefined) this.#onSuccess()
    this.inner.answer(json, errorCode, retryAfterS)
  }

  drop(): void {
    this.inner.drop()
  }
}

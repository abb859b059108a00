/** Reports the messages of a connection, and the HTTP exchanges that carry them. */

import { BoundedMap } from '../../base/bounded-map.ts'
import { isSecretName } from '../../base/text/redact.ts'
import { tapTarget } from '../../client/tap-target.ts'
import type { HttpExchange } from '../../http/client/options.ts'
import type { Target } from '../../protocol/interfaces/link.ts'
import type { HostTraffic } from '../model/traffic.ts'

/** Messages of which the HTTP response has not arrived yet. Beyond that the oldest stay without headers. */
const MAX_UNANSWERED = 256

/** Numbers the messages and connections of a host. */
export class TrafficLog {
  readonly #emit: (traffic: HostTraffic) => void
  #messages = 0
  #connections = 0

  constructor(emit: (traffic: HostTraffic) => void) {
    this.#emit = emit
  }

  /** Observes one connection. @param revision undefined during the handshake */
  observe(server: string, revision: () => string | undefined): TrafficTap {
    const connection = ++this.#connections
    const sent = new BoundedMap<string, number>(MAX_UNANSWERED)
    return {
      tap: (target) =>
        tapTarget(target, ({ from, message }) => {
          const json = JSON.stringify(message)
          const number = ++this.#messages
          if (from === 'client' && target.mirrorsHeaders) sent.set(json, number)
          this.#emit({
            kind: 'message',
            number,
            server,
            connection,
            from: from === 'client' ? 'host' : 'server',
            at: Date.now(),
            revision: revision(),
            message,
            bytes: Buffer.byteLength(json),
          })
        }),
      onExchange: ({ method, url, headers, hiddenHeaders, body, status, responseHeaders }) => {
        const number = body === undefined ? undefined : sent.get(body)
        if (number === undefined) return
        this.#emit({
          kind: 'http',
          number,
          server,
          method,
          url: `${url.origin}${url.pathname}`,
          headers: pairs(headers),
          hiddenHeaders: hiddenHeaders.map((name) => name.toLowerCase()),
          status,
          responseHeaders: texts(responseHeaders),
        })
      },
    }
  }
}

/** The observer of one connection. */
export interface TrafficTap {
  tap(target: Target): Target
  onExchange(exchange: HttpExchange): void
}

const pairs = (headers: readonly string[]): Record<string, string> =>
  Object.fromEntries(headers.flatMap((name, at) => (at % 2 === 0 ? [[name, shownValue(name, headers[at + 1] ?? '')]] : [])))

const texts = (headers: HttpExchange['responseHeaders']): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) => (value === undefined ? [] : [[name, shownValue(name, String(value))]])),
  )

/** Headers that prove who someone is, whatever their values look like. */
const PROOF = /^(?:set-)?cookie2?$|^(?:proxy-)?authorization$|^(?:proxy-)?authentication-info$/i

const shownValue = (name: string, value: string): string => (PROOF.test(name) || isSecretName(name) ? '[hidden]' : value)

/** Sends requests with `fetch`, for every runtime but Node. The conditions of `imports` in package.json choose it. */

import type { IncomingHttpHeaders } from 'node:http'
import { McpError } from '../../../protocol/errors.ts'
import type { Attempt, AttemptControl, AttemptHandler, Dispatcher, DispatcherSettings } from '../http-request.ts'

/** `fetch` has neither certificates nor a time limit for connecting. The time limits of the calls hold for both. */
export function openDispatcher({ origin, tls }: DispatcherSettings): Dispatcher {
  if (tls !== undefined) throw new McpError('ERR_UNSUPPORTED', 'The option tls needs Node; this runtime sends requests with fetch')
  const open = new Set<FetchAttempt>()
  return {
    dispatch: (attempt, handler) => {
      const sent = new FetchAttempt(attempt, handler)
      open.add(sent)
      handler.onRequestStart(sent)
      void sent.run(origin).finally(() => open.delete(sent))
    },
    destroy: async () => {
      for (const each of open) each.abort(new Error('The connection was closed'))
    },
  }
}

class FetchAttempt implements AttemptControl {
  readonly #attempt: Attempt
  readonly #handler: AttemptHandler
  readonly #abort = new AbortController()
  #isPaused = false
  #onResume: (() => void) | undefined
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(attempt: Attempt, handler: AttemptHandler) {
    this.#attempt = attempt
    this.#handler = handler
  }

  abort(reason: Error): void {
    this.#abort.abort(reason)
    this.resume()
  }

  pause(): void {
    this.#isPaused = true
  }

  resume(): void {
    this.#isPaused = false
    this.#onResume?.()
    this.#onResume = undefined
  }

  /** Reports everything to the handler. Never rejects. */
  async run(origin: string): Promise<void> {
    const { method, path, body, headersTimeout, bodyTimeout } = this.#attempt
    try {
      this.#limit(headersTimeout)
      const { signal } = this.#abort
      const response = await fetch(origin + path, { method, headers: this.#headers(), body, signal, redirect: 'manual', ...ofBrowser })
      if (response.type === 'opaqueredirect') throw new McpError('ERR_HTTP', `${origin} redirected, which a page cannot follow safely`)
      this.#limit(bodyTimeout)
      this.#handler.onResponseStart(this, response.status, headersOf(response))
      if (response.body) await this.#read(response.body, bodyTimeout)
      if (!signal.aborted) this.#handler.onResponseEnd(this)
    } catch (error) {
      const { signal } = this.#abort
      this.#handler.onResponseError(this, (signal.aborted ? signal.reason : error) as Error)
    } finally {
      clearTimeout(this.#timer)
    }
  }

  async #read(body: ReadableStream<Uint8Array>, timeoutMs: number): Promise<void> {
    const reader = body.getReader()
    for (;;) {
      if (this.#isPaused) await new Promise<void>((resolve) => (this.#onResume = resolve))
      const { done, value } = await reader.read()
      if (done || this.#abort.signal.aborted) return
      this.#limit(timeoutMs)
      this.#handler.onResponseData(this, value)
    }
  }

  /** Starts the time again for the next part of the response. */
  #limit(ms: number): void {
    clearTimeout(this.#timer)
    if (ms > 0) this.#timer = setTimeout(() => this.abort(new TooLate()), ms)
  }

  #headers(): [string, string][] {
    const { headers } = this.#attempt
    const pairs: [string, string][] = []
    for (let at = 0; at < headers.length; at += 2) {
      const name = headers[at] as string
      // A browser would ask the server for permission to send it.
      if (name !== 'cache-control') pairs.push([name, headers[at + 1] as string])
    }
    return pairs
  }
}

/** Pages and their workers have cookies and a cache. Other runtimes reject these options. */
const isBrowser = 'document' in globalThis || 'importScripts' in globalThis
const ofBrowser = (isBrowser ? { credentials: 'omit', cache: 'no-store', referrerPolicy: 'no-referrer' } : {}) as RequestInit

/** `fetch` has undone a compression, so its header and the length no longer describe the body. The reader bounds what comes out. */
function headersOf(response: Response): IncomingHttpHeaders {
  const headers: IncomingHttpHeaders = Object.fromEntries(response.headers)
  if (headers['content-encoding'] !== undefined) {
    delete headers['content-encoding']
    delete headers['content-length']
  }
  return headers
}

/** Has the code that undici uses, so that it becomes the same error. */
class TooLate extends Error {
  readonly code = 'UND_ERR_HEADERS_TIMEOUT'

  constructor() {
    super('no answer within the time limit')
  }
}

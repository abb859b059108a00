/** Approvals by a person on a local web page. The page's port is opened for the first approval. */

import { randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { visibleText } from '../../base/text/visible-text.ts'
import { type Context, ToolError } from '../../server/index.ts'

export interface ApprovalOptions {
  timeoutMs: number
  maxApprovals: number
  onApproved(id: string): void
  /** The address of an external approval page. Default: the local page. */
  url?: (id: string) => string
}

interface Approval {
  what: string
  about: string
  isGiven: boolean
  expires: number
  waiting: Set<() => void>
}

const PROGRESS_INTERVAL_MS = 5000

export class Approvals {
  readonly #options: ApprovalOptions
  readonly #open = new Map<string, Approval>()
  #pages: Promise<{ server: Server; origin: string }> | undefined

  constructor(options: ApprovalOptions) {
    this.#options = options
  }

  async ask(what: string, about: string): Promise<{ id: string; url: string }> {
    this.#forgetOld()
    const { maxApprovals } = this.#options
    if (this.#open.size >= maxApprovals) throw new ToolError(`There are already ${maxApprovals} pending approvals (maxApprovals)`)
    // The id is unguessable and the only way to the page, so only a person who got the link can approve.
    const id = randomBytes(24).toString('base64url')
    this.#open.set(id, { what, about, isGiven: false, expires: Date.now() + this.#options.timeoutMs, waiting: new Set() })
    return { id, url: this.#options.url?.(id) ?? `${(await this.#serve()).origin}/${id}` }
  }

  get pending(): string[] {
    this.#forgetOld()
    return [...this.#open].filter(([, { isGiven }]) => !isGiven).map(([id]) => id)
  }

  approve(id: string): boolean {
    const approval = this.#open.get(id)
    if (!approval || approval.isGiven) return false
    approval.isGiven = true
    for (const go of approval.waiting) go()
    this.#options.onApproved(id)
    return true
  }

  /** Uses up an approval. Returns false if it was not given, was for something else, or was already used. */
  use(id: string, what: string): boolean {
    this.#forgetOld()
    const approval = this.#open.get(id)
    if (!approval?.isGiven || approval.what !== what) return false
    return this.#open.delete(id)
  }

  async wait(id: string, what: string, ctx: Pick<Context, 'signal' | 'progress'>): Promise<true> {
    const approval = this.#open.get(id)
    if (!approval) throw new ToolError('The approval request has expired; call the tool again')
    let reports = 0
    // Progress keeps the client from timing out while the person decides. The value grows and never reaches 1.
    const timer = setInterval(() => void ctx.progress(1 - 1 / ++reports, undefined, 'waiting for approval'), PROGRESS_INTERVAL_MS)
    try {
      if (!approval.isGiven) await untilApproved(approval, ctx.signal)
    } finally {
      clearInterval(timer)
    }
    if (!this.use(id, what)) throw new ToolError('The approval was not given in time')
    return true
  }

  async close(): Promise<void> {
    const pages = await this.#pages?.catch(() => undefined)
    pages?.server.closeAllConnections()
    pages?.server.close()
  }

  #forgetOld(): void {
    for (const [id, { expires }] of this.#open) if (expires < Date.now()) this.#open.delete(id)
  }

  #serve(): Promise<{ server: Server; origin: string }> {
    this.#pages ??= new Promise((resolve, reject) => {
      const server = createServer((request, response) => this.#answer(request, response))
      server.once('error', reject)
      // The page must not keep the process alive.
      server.unref().listen(0, '127.0.0.1', () => {
        const { port } = server.address() as AddressInfo
        resolve({ server, origin: `http://127.0.0.1:${port}` })
      })
    })
    return this.#pages
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { origin } = await this.#serve()
    const id = (request.url ?? '').slice(1)
    const approval = this.#open.get(id)
    const end = (status: number, body: string): void => {
      response.writeHead(status, HEADERS).end(page(body))
    }
    // Rejects DNS rebinding (wrong host) and forms posted by other sites (wrong origin).
    if (`http://${request.headers.host}` !== origin || (request.headers.origin ?? origin) !== origin)
      return end(403, '<p>Request from another site rejected.</p>')
    if (!approval || approval.expires < Date.now()) return end(404, '<p>This approval request does not exist or has expired.</p>')
    if (request.method === 'POST') {
      this.approve(id)
      return end(200, '<p>Approved. You can close this page.</p>')
    }
    if (approval.isGiven) return end(200, '<p>Already approved.</p>')
    end(200, `<p>Approve <strong>${escaped(approval.about)}</strong>?</p><form method="post"><button>Approve</button></form>`)
  }
}

function untilApproved(approval: Approval, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = (act: () => void): void => {
      clearTimeout(timer)
      approval.waiting.delete(go)
      signal.removeEventListener('abort', stop)
      act()
    }
    const go = (): void => end(resolve)
    const stop = (): void => end(() => reject(signal.reason as Error))
    const timer = setTimeout(go, Math.max(0, approval.expires - Date.now()))
    approval.waiting.add(go)
    signal.addEventListener('abort', stop)
    if (signal.aborted) stop()
  })
}

const HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': "default-src 'none'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
  // Not `no-referrer`: browsers would then send `Origin: null` with the form of this page, and it would be rejected.
  'referrer-policy': 'same-origin',
  'cache-control': 'no-store',
}

const page = (body: string): string => `<!doctype html><html lang="en"><title>Approval</title><body>${body}</body></html>\n`

/** Escapes markup and makes control characters visible. */
const escaped = (text: string): string => visibleText(text).replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)

/** Approvals by a person, on a page at a port of this machine that is opened when the first is needed. */

import { randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { visibleText } from '../../base/text/visible-text.ts'
import { type Context, ToolError } from '../../server/index.ts'

export interface ApprovalOptions {
  timeoutMs: number
  maxApprovals: number
  onApproved(id: string): void
  /** The page is elsewhere. */
  url?: (id: string) => string
}

interface Approval {
  what: string
  about: string
  isGiven: boolean
  expires: number
  waiting: Set<() => void>
}

const SIGN_OF_LIFE_MS = 5000

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
    if (this.#open.size >= maxApprovals) throw new ToolError(`${maxApprovals} approvals are waited for already (maxApprovals)`)
    // Nobody can approve what they were not shown: the id is the only way to the page.
    const id = randomBytes(24).toString('base64url')
    this.#open.set(id, { what, about, isGiven: false, expires: Date.now() + this.#options.timeoutMs, waiting: new Set() })
    return { id, url: this.#options.url?.(id) ?? `${(await this.#serve()).origin}/${id}` }
  }

  get awaited(): string[] {
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

  /** Takes an approval that was given, for this very thing; it is good for once. */
  use(id: string, what: string): boolean {
    this.#forgetOld()
    const approval = this.#open.get(id)
    if (!approval?.isGiven || approval.what !== what) return false
    return this.#open.delete(id)
  }

  async wait(id: string, what: string, ctx: Pick<Context, 'signal' | 'progress'>): Promise<true> {
    const approval = this.#open.get(id)
    if (!approval) throw new ToolError('The approval is no longer waited for; ask anew')
    let signs = 0
    // A person may take longer than a client waits for something of which it hears nothing. It never gets to 1.
    const signOfLife = setInterval(() => void ctx.progress(1 - 1 / ++signs, undefined, 'waiting for the approval'), SIGN_OF_LIFE_MS)
    try {
      if (!approval.isGiven) await given(approval, ctx.signal)
    } finally {
      clearInterval(signOfLife)
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
      // A page must not keep a server alive that has nothing else to do.
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
    // Another page that got hold of this machine's name, or posts from elsewhere, is not the person.
    if (`http://${request.headers.host}` !== origin || (request.headers.origin ?? origin) !== origin)
      return end(403, '<p>Not from here.</p>')
    if (!approval || approval.expires < Date.now()) return end(404, '<p>Nothing waits for this approval.</p>')
    if (request.method === 'POST') {
      this.approve(id)
      return end(200, '<p>Approved. You can close this page.</p>')
    }
    if (approval.isGiven) return end(200, '<p>Approved already.</p>')
    end(200, `<p>Approve <strong>${escaped(approval.about)}</strong>?</p><form method="post"><button>Approve</button></form>`)
  }
}

function given(approval: Approval, signal: AbortSignal): Promise<void> {
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
  // Not less: without a referrer a browser names no origin either, and then a form of this page is one of anybody's.
  'referrer-policy': 'same-origin',
  'cache-control': 'no-store',
}

const page = (body: string): string => `<!doctype html><html lang="en"><title>Approval</title><body>${body}</body></html>\n`

/** Letters of others that can be seen, and no markup. */
const escaped = (text: string): string => visibleText(text).replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)

/**
 * Pages that a handler sends a person to, such as to let the server use their account elsewhere.
 *
 * The one who goes through the page must be the one on whose behalf the handler ran, or somebody could have a stranger
 * finish what they began, and own the result. So the page belongs to the subject of the access token; the browser must
 * show a login of the same subject; what comes back from elsewhere must come back to the browser that went there, once,
 * within ten minutes; and the person agrees before anything, for each client anew.
 */

import { toBase64Url } from '../../../base/bytes.ts'
import { McpError } from '../../../protocol/errors.ts'
import type { TokenClaims } from '../../../protocol/seams/access.ts'
import { secureUrl } from '../secure-url.ts'
import { digest } from '../tokens/introspection.ts'
import { escapeHtml, message, page, sendTo } from './page-html.ts'
import { type Invited, memoryVisits, type Visit, type VisitStore } from './visits.ts'

/** Who is logged in at the browser: the issuer and subject as they stand in access tokens. */
export interface BrowserUser {
  issuer: string
  subject: string
}

export interface PersonPagesOptions {
  /** Where the pages are; `fetch` is to be mounted there and below. */
  url: string
  /** What the person is asked to agree to, as a question. */
  question(invited: Invited): string
  /** What else they should know before they agree, one sentence each. */
  details?(visit: { invited: Invited; returnTo: string }): readonly string[]
  /** Who is at the browser, by your own login, proved by a cookie or the like; undefined for nobody. */
  whoIs(request: Request): BrowserUser | undefined | Promise<BrowserUser | undefined>
  /** Has somebody log in who has not, and come back. */
  login(request: Request, returnTo: string): Response | Promise<Response>
  /** Where to send a person who has agreed. They come back to `returnTo` with `state`; `data` is for `finish`. */
  leave(visit: { invited: Invited; state: string; returnTo: string }): Promise<{ url: string; data: Record<string, string> }>
  /** They came back. What it throws is told to nobody. */
  finish(visit: { invited: Invited; elicitationId: string; data: Readonly<Record<string, string>>; query: URLSearchParams }): Promise<void>
  visits?: VisitStore
  /** How long a person may take: at most ten minutes. */
  ttlMs?: number
  /** Hears of what went wrong. */
  onError?(error: unknown): void
}

export interface PersonPages {
  /** A page for this caller and nobody else. */
  invite(auth: TokenClaims): Promise<{ url: string; elicitationId: string }>
  /** Answers what browsers ask at `url` and below. */
  fetch(request: Request): Promise<Response>
}

const MAX_TTL_MS = 10 * 60_000
const MAX_FORM_BYTES = 4096

export function personPages(options: PersonPagesOptions): PersonPages {
  return new Pages(options)
}

class Pages implements PersonPages {
  readonly #options: PersonPagesOptions
  readonly #visits: VisitStore
  readonly #base: URL
  readonly #ttlMs: number

  constructor(options: PersonPagesOptions) {
    const { ttlMs = MAX_TTL_MS } = options
    if (!(ttlMs > 0 && ttlMs <= MAX_TTL_MS)) throw new McpError('ERR_DEFINITION', `A person may take up to ten minutes, not ${ttlMs} ms`)
    this.#options = options
    this.#visits = options.visits ?? memoryVisits()
    this.#base = secureUrl(options.url, 'The pages')
    this.#ttlMs = ttlMs
  }

  async invite({ issuer, subject, clientId }: TokenClaims): Promise<{ url: string; elicitationId: string }> {
    const id = secret()
    await this.#visits.save({ id, invited: { issuer, subject, clientId }, formToken: secret() }, this.#ttlMs)
    // Nothing about the person, and nothing that opens anything: whoever has it must still log in as that person.
    return { url: this.#place(id), elicitationId: id }
  }

  async fetch(request: Request): Promise<Response> {
    try {
      const { pathname } = new URL(request.url)
      const path = this.#base.pathname.replace(/\/$/, '')
      const part = pathname.startsWith(`${path}/`) ? pathname.slice(path.length + 1) : ''
      if (part === 'callback' && request.method === 'GET') return await this.#comeBack(request)
      if (!/^[\w-]{43}$/.test(part)) return NOT_HERE()
      if (request.method === 'GET') return await this.#show(request, part)
      if (request.method === 'POST') return await this.#agree(request, part)
      return message(405, 'Not possible', 'This page can only be looked at.', { allow: 'GET, POST' })
    } catch (error) {
      this.#options.onError?.(error)
      return message(500, 'Something went wrong', 'Please go back to your application and try again.')
    }
  }

  async #show(request: Request, id: string): Promise<Response> {
    const visit = await this.#invitedOnly(request, id, 'log in')
    if (visit instanceof Response) return visit
    if (visit.left) return GONE()
    const question = escapeHtml(this.#options.question(visit.invited))
    const client = escapeHtml(visit.invited.clientId)
    const token = escapeHtml(visit.formToken)
    const details = this.#options.details?.({ invited: visit.invited, returnTo: this.#place('callback') }) ?? []
    const list = details.map((each) => `<p>${escapeHtml(each)}</p>`).join('')
    return page(
      200,
      'Do you agree?',
      `<p>${question}</p>${list}<p>Asked for through the application <strong>${client}</strong>. Go on only if you started this there yourself.</p><form method="post"><input type="hidden" name="token" value="${token}"><button name="answer" value="yes">Yes, go on</button><button name="answer" value="no">No</button></form>`,
    )
  }

  async #agree(request: Request, id: string): Promise<Response> {
    const visit = await this.#invitedOnly(request, id)
    if (visit instanceof Response) return visit
    const form = await readForm(request)
    const origin = request.headers.get('origin')
    if (visit.left || form?.get('token') !== visit.formToken || (origin !== null && origin !== this.#base.origin)) return REFUSED()
    if (form.get('answer') !== 'yes') {
      await this.#visits.take(id)
      return message(200, 'Nothing was done', 'You can close this page.')
    }
    const [state, cookie] = [`${id}.${secret()}`, secret()]
    const { url, data } = await this.#options.leave({ invited: visit.invited, state, returnTo: this.#place('callback') })
    await this.#visits.save({ ...visit, left: { state: await digest(state), cookie: await digest(cookie), data } }, this.#ttlMs)
    return sendTo(url, { 'set-cookie': `${cookieName(id)}=${cookie}; ${COOKIE}; Max-Age=${Math.ceil(this.#ttlMs / 1000)}` })
  }

  async #comeBack(request: Request): Promise<Response> {
    const query = new URL(request.url).searchParams
    const state = query.get('state') ?? ''
    const id = state.split('.', 1)[0] as string
    const visit = await this.#invitedOnly(request, id)
    if (visit instanceof Response) return visit
    const { left } = visit
    const cookie = cookieOf(request, cookieName(id))
    // Who went there and who came back must be one browser: a link to the way back is worth nothing to anybody else.
    if (!left || cookie === undefined || (await digest(state)) !== left.state || (await digest(cookie)) !== left.cookie) return REFUSED()
    if (!(await this.#visits.take(id))) return GONE()
    const done = { 'set-cookie': `${cookieName(id)}=; ${COOKIE}; Max-Age=0` }
    try {
      await this.#options.finish({ invited: visit.invited, elicitationId: id, data: left.data, query })
    } catch (error) {
      this.#options.onError?.(error)
      return message(400, 'That did not work', 'Nothing was connected. Please go back to your application and try again.', done)
    }
    return message(200, 'Done', 'You can close this page and go back to your application.', done)
  }

  /** The visit, if the person at the browser is the one it is for. */
  async #invitedOnly(request: Request, id: string, whenUnknown: 'log in' | 'refuse' = 'refuse'): Promise<Visit | Response> {
    const user = await this.#options.whoIs(request)
    // Before anything is said about the page: not even that it exists is for strangers.
    if (!user) return whenUnknown === 'log in' ? this.#options.login(request, this.#place(id)) : REFUSED()
    const visit = await this.#visits.find(id)
    if (!visit) return GONE()
    return visit.invited.issuer === user.issuer && visit.invited.subject === user.subject ? visit : REFUSED()
  }

  #place(part: string): string {
    return `${this.#base.origin}${this.#base.pathname.replace(/\/$/, '')}/${part}`
  }
}

const NOT_HERE = (): Response => message(404, 'Not here', 'There is no such page.')
const GONE = (): Response =>
  message(404, 'No longer here', 'This page was used already or has expired. Please go back to your application.')
const REFUSED = (): Response =>
  message(403, 'Not for you', 'This page was made for somebody else, or for another browser. Nothing was done.')

const COOKIE = 'Path=/; Secure; HttpOnly; SameSite=Lax'
/** One for each visit, so that two at the same time do not get into each other's way. */
const cookieName = (id: string): string => `__Host-portico-visit-${id.slice(0, 8)}`

function cookieOf(request: Request, name: string): string | undefined {
  for (const part of (request.headers.get('cookie') ?? '').split(';')) {
    const [key, ...value] = part.split('=')
    if (key?.trim() === name) return value.join('=').trim()
  }
  return undefined
}

async function readForm(request: Request): Promise<URLSearchParams | undefined> {
  if (!/^application\/x-www-form-urlencoded\b/i.test(request.headers.get('content-type') ?? '')) return undefined
  if (Number(request.headers.get('content-length') ?? 0) > MAX_FORM_BYTES) return undefined
  const reader = request.body?.getReader()
  const decoder = new TextDecoder()
  let text = ''
  while (reader) {
    const { done, value } = await reader.read()
    if (done) break
    text += decoder.decode(value, { stream: true })
    if (text.length > MAX_FORM_BYTES) {
      reader.cancel().catch(() => {})
      return undefined
    }
  }
  return new URLSearchParams(text)
}

/** 256 bits, 43 characters. */
const secret = (): string => toBase64Url(crypto.getRandomValues(new Uint8Array(32)))

/**
 * Pages that a handler sends a person to, for example to connect an account at a third party.
 *
 * The person at the browser must be the subject of the access token. Otherwise an attacker could start the flow, let a victim
 * finish it, and use the victim's account. Therefore the browser must be logged in as that subject, the person must agree on
 * the page for each client, and the response of the third party must arrive once, in the same browser, within ten minutes.
 */

import { callObserver } from '../../../base/call-observer.ts'
import { checkMembers, type Members } from '../../../protocol/check-members.ts'
import { McpError } from '../../../protocol/errors.ts'
import type { TokenClaims } from '../../../protocol/interfaces/access.ts'
import { readBody } from '../../fetch/bounded-body.ts'
import { randomSecret, sha256 } from '../../oauth-crypto.ts'
import { secureUrl } from '../secure-url.ts'
import { escapeHtml, message, page, redirectTo } from './page-html.ts'
import { type Invited, memoryVisits, type Visit, type VisitStore } from './visits.ts'

/** The person who is logged in at the browser: issuer and subject as in access tokens. */
export interface BrowserUser {
  issuer: string
  subject: string
}

/** Options for `personPages`. */
export interface PersonPagesOptions {
  /** The public URL of the pages. Mount `fetch` there and below. */
  url: string
  /** The question that the person is asked. */
  question(invited: Invited): string
  /** More sentences that are shown below the question. */
  details?(visit: { invited: Invited; returnTo: string }): readonly string[]
  /** The person who is logged in at the browser, for example by a session cookie. Undefined if there is no login. */
  whoIs(request: Request): BrowserUser | undefined | Promise<BrowserUser | undefined>
  /** The response that makes the person log in and then return to `returnTo`. */
  login(request: Request, returnTo: string): Response | Promise<Response>
  /** Returns the URL to send the person to after they agreed. They come back to `returnTo` with `state`. `data` is passed to `finish`. */
  leave(visit: { invited: Invited; state: string; returnTo: string }): Promise<{ url: string; data: Record<string, string> }>
  /** Called when the person returns. Errors go to `onError`; the page does not show them. */
  finish(visit: { invited: Invited; elicitationId: string; data: Readonly<Record<string, string>>; query: URLSearchParams }): Promise<void>
  /** Where visits are stored. Default: in memory. */
  visits?: VisitStore
  /** How long a person may take. Default and maximum: ten minutes. */
  ttlMs?: number
  /** Receives errors. */
  onError?(error: unknown): void
}

/** Pages that confirm who a person is before they continue elsewhere. `personPages` creates it. */
export interface PersonPages {
  /** Creates a page for this caller. */
  invite(auth: TokenClaims): Promise<{ url: string; elicitationId: string }>
  /** Serves the pages at `url` and below. */
  fetch(request: Request): Promise<Response>
}

/** OAuth recommends that authorization codes expire after ten minutes at most; a visit need not last longer. */
const MAX_TTL_MS = 10 * 60_000
/** The form has two short fields. */
const MAX_FORM_BYTES = 4096

const MEMBERS: Members<PersonPagesOptions> = {
  url: 1,
  question: 1,
  details: 1,
  whoIs: 1,
  login: 1,
  leave: 1,
  finish: 1,
  visits: 1,
  ttlMs: 1,
  onError: 1,
}

/**
 * Serves pages that only the caller of a tool can use.
 *
 * @example
 * ```ts
 * const pages = personPages({ url: 'https://mcp.example.com/pages', question: () => 'Connect your account?', whoIs, login, leave, finish })
 * const { url, elicitationId } = await pages.invite(caller.auth)
 * ```
 */
export function personPages(options: PersonPagesOptions): PersonPages {
  checkMembers('personPages', options, MEMBERS)
  return new Pages(options)
}

class Pages implements PersonPages {
  readonly #options: PersonPagesOptions
  readonly #visits: VisitStore
  readonly #base: URL
  readonly #ttlMs: number

  constructor(options: PersonPagesOptions) {
    const { ttlMs = MAX_TTL_MS } = options
    if (!(ttlMs > 0 && ttlMs <= MAX_TTL_MS))
      throw new McpError('ERR_DEFINITION', `Expected ttlMs between 1 and ${MAX_TTL_MS}, got ${ttlMs}`)
    this.#options = options
    this.#visits = options.visits ?? memoryVisits()
    this.#base = secureUrl(options.url, 'The pages')
    this.#ttlMs = ttlMs
  }

  async invite({ issuer, subject, clientId }: TokenClaims): Promise<{ url: string; elicitationId: string }> {
    const id = randomSecret()
    await this.#visits.save({ id, invited: { issuer, subject, clientId }, formToken: randomSecret() }, this.#ttlMs)
    // The URL is not a secret: it works only for a browser that is logged in as this person.
    return { url: this.#urlOf(id), elicitationId: id }
  }

  async fetch(request: Request): Promise<Response> {
    try {
      const { pathname } = new URL(request.url)
      const path = this.#base.pathname.replace(/\/$/, '')
      const part = pathname.startsWith(`${path}/`) ? pathname.slice(path.length + 1) : ''
      if (part === 'callback' && request.method === 'GET') return await this.#comeBack(request)
      if (!/^[\w-]{43}$/.test(part)) return NOT_FOUND()
      if (request.method === 'GET') return await this.#show(request, part)
      if (request.method === 'POST') return await this.#agree(request, part)
      return message(405, 'Method not allowed', 'This page supports only GET and POST.', { allow: 'GET, POST' })
    } catch (error) {
      callObserver('onError', () => this.#options.onError?.(error))
      return message(500, 'Something went wrong', 'Please return to your application and try again.')
    }
  }

  async #show(request: Request, id: string): Promise<Response> {
    const visit = await this.#findVisit(request, id, 'log in')
    if (visit instanceof Response) return visit
    if (visit.left) return EXPIRED()
    const question = escapeHtml(this.#options.question(visit.invited))
    const client = escapeHtml(visit.invited.clientId)
    const token = escapeHtml(visit.formToken)
    const details = this.#options.details?.({ invited: visit.invited, returnTo: this.#urlOf('callback') }) ?? []
    const list = details.map((each) => `<p>${escapeHtml(each)}</p>`).join('')
    return page(
      200,
      'Do you agree?',
      `<p>${question}</p>${list}<p>Requested by the application <strong>${client}</strong>. Continue only if you started this there yourself.</p><form method="post"><input type="hidden" name="token" value="${token}"><button name="answer" value="yes">Yes, continue</button><button name="answer" value="no">No</button></form>`,
    )
  }

  async #agree(request: Request, id: string): Promise<Response> {
    const visit = await this.#findVisit(request, id)
    if (visit instanceof Response) return visit
    const form = await readForm(request)
    const origin = request.headers.get('origin')
    if (visit.left || form?.get('token') !== visit.formToken || (origin !== null && origin !== this.#base.origin)) return DENIED()
    if (form.get('answer') !== 'yes') {
      await this.#visits.take(id)
      return message(200, 'Cancelled', 'Nothing was changed. You can close this page.')
    }
    const [state, cookie] = [`${id}.${randomSecret()}`, randomSecret()]
    const { url, data } = await this.#options.leave({ invited: visit.invited, state, returnTo: this.#urlOf('callback') })
    await this.#visits.save({ ...visit, left: { state: await sha256(state), cookie: await sha256(cookie), data } }, this.#ttlMs)
    return redirectTo(url, { 'set-cookie': `${cookieName(id)}=${cookie}; ${COOKIE}; Max-Age=${Math.ceil(this.#ttlMs / 1000)}` })
  }

  async #comeBack(request: Request): Promise<Response> {
    const query = new URL(request.url).searchParams
    const state = query.get('state') ?? ''
    const id = state.split('.', 1)[0] as string
    const visit = await this.#findVisit(request, id)
    if (visit instanceof Response) return visit
    const { left } = visit
    const cookie = cookieOf(request, cookieName(id))
    // The same browser must leave and come back: otherwise an attacker could send the callback URL to a victim.
    if (!left || cookie === undefined || (await sha256(state)) !== left.state || (await sha256(cookie)) !== left.cookie) return DENIED()
    if (!(await this.#visits.take(id))) return EXPIRED()
    const done = { 'set-cookie': `${cookieName(id)}=; ${COOKIE}; Max-Age=0` }
    try {
      await this.#options.finish({ invited: visit.invited, elicitationId: id, data: left.data, query })
    } catch (error) {
      callObserver('onError', () => this.#options.onError?.(error))
      return message(400, 'That did not work', 'Nothing was connected. Please return to your application and try again.', done)
    }
    return message(200, 'Done', 'You can close this page and return to your application.', done)
  }

  /** The visit if the person at the browser is the invited one, else the response that refuses. */
  async #findVisit(request: Request, id: string, whenUnknown: 'log in' | 'refuse' = 'refuse'): Promise<Visit | Response> {
    const user = await this.#options.whoIs(request)
    // Checked before the visit is looked up: a stranger must not learn whether the page exists.
    if (!user) return whenUnknown === 'log in' ? this.#options.login(request, this.#urlOf(id)) : DENIED()
    const visit = await this.#visits.find(id)
    if (!visit) return EXPIRED()
    return visit.invited.issuer === user.issuer && visit.invited.subject === user.subject ? visit : DENIED()
  }

  #urlOf(part: string): string {
    return `${this.#base.origin}${this.#base.pathname.replace(/\/$/, '')}/${part}`
  }
}

const NOT_FOUND = (): Response => message(404, 'Page not found', 'This page does not exist.')
const EXPIRED = (): Response =>
  message(404, 'Page expired', 'This page was already used or has expired. Please return to your application.')
const DENIED = (): Response => message(403, 'Access denied', 'This page belongs to another person or another browser. Nothing was changed.')

const COOKIE = 'Path=/; Secure; HttpOnly; SameSite=Lax'
/** One cookie for each visit, so that two visits at the same time do not overwrite each other. */
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
  const tooLarge = new Error('The form is too large')
  try {
    const body = await readBody(request.body, MAX_FORM_BYTES, () => tooLarge)
    return new URLSearchParams(new TextDecoder().decode(body))
  } catch (error) {
    if (error === tooLarge) return undefined
    throw error
  }
}

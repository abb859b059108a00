/** Requests that fail until the person has visited a page: show the page, wait until it is done, try again. */

import { isObject, type Params } from '../jsonrpc/message.ts'
import { RemoteError } from '../jsonrpc/remote-error.ts'
import type { UrlElicitParams } from '../protocol/elicitation.ts'
import { Cancelled, Declined } from '../protocol/errors.ts'
import type { Answerer, Asking } from './answers.ts'

const URL_ELICITATION_REQUIRED = -32042
const MAX_OPEN = 1000

export class Pages {
  readonly #waiting = new Map<string, () => void>()

  /** The person is done with a page, as the server, or the person, says. Ids that nobody waits for are ignored. */
  complete(elicitationId: string): boolean {
    const done = this.#waiting.get(elicitationId)
    this.#waiting.delete(elicitationId)
    done?.()
    return done !== undefined
  }

  /** Runs `send`; when it needs pages visited first, has them visited and runs it once more. */
  async through(send: () => Promise<Params>, answerer: Answerer, asking: Asking): Promise<Params> {
    try {
      return await send()
    } catch (error) {
      const pages = answerer.answers.elicitUrl ? pagesIn(error) : undefined
      if (!pages) throw error
      for (const page of pages) await this.#visit(page, answerer, asking)
      return await send()
    }
  }

  async #visit(page: UrlElicitParams & { elicitationId: string }, answerer: Answerer, asking: Asking): Promise<void> {
    // Waiting starts before the question: the notice may come while the person is still asked.
    const done = this.#wait(page.elicitationId, asking.signal)
    done.catch(() => {})
    const { action } = await answerer.answer({ method: 'elicitation/create', params: page }, asking)
    if (action === 'accept') return done
    this.#waiting.delete(page.elicitationId)
    throw action === 'decline'
      ? new Declined(`The person declined: ${page.message}`)
      : new Cancelled(`The person gave no answer: ${page.message}`)
  }

  #wait(elicitationId: string, signal: AbortSignal): Promise<void> {
    const [oldest] = this.#waiting.keys()
    if (this.#waiting.size >= MAX_OPEN && oldest !== undefined) this.#waiting.delete(oldest)
    return new Promise((resolve, reject) => {
      this.#waiting.set(elicitationId, resolve)
      signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
    })
  }
}

function pagesIn(error: unknown): (UrlElicitParams & { elicitationId: string })[] | undefined {
  if (!(error instanceof RemoteError) || error.code !== URL_ELICITATION_REQUIRED || !isObject(error.data)) return undefined
  const list = error.data.elicitations
  if (!Array.isArray(list) || list.length === 0) return undefined
  const isPage = (each: unknown): boolean =>
    isObject(each) && each.mode === 'url' && typeof each.url === 'string' && typeof each.elicitationId === 'string'
  return list.every(isPage) ? list : undefined
}

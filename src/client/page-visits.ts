/** Requests that need a page visit first: shows the page, waits for its completion and repeats the request. */

import { BoundedMap } from '../base/bounded-map.ts'
import type { Deadlines } from '../base/deadlines.ts'
import { isObject } from '../base/json.ts'
import { orAborted, orTimeout } from '../base/wait.ts'
import type { Params } from '../jsonrpc/message.ts'
import { RemoteError } from '../jsonrpc/remote-error.ts'
import { Cancelled, Declined, McpError } from '../protocol/errors.ts'
import type { UrlElicitParams } from '../protocol/model/elicitation.ts'
import type { Answerer, Asking } from './answer-server.ts'

const URL_ELICITATION_REQUIRED = -32042
/** Pages that are waited for at the same time. Beyond that the oldest wait ends and its request is repeated. */
const MAX_OPEN = 1000

/** The origin of the request, and how long the person may take. */
export interface PageVisit extends Asking {
  /** Aborted when the client is closed. */
  over: AbortSignal
  maxTotalMs: number
  deadlines: Deadlines
}

export class PageVisits {
  readonly #waiting = new BoundedMap<string, () => void>(MAX_OPEN, (_id, done) => done())

  /** Ends the wait for a page. False when nothing waits for it. */
  complete(elicitationId: string): boolean {
    const done = this.#waiting.get(elicitationId)
    this.#waiting.delete(elicitationId)
    done?.()
    return done !== undefined
  }

  /** Calls `send`. If it fails because pages must be visited, asks the person and calls it again. */
  async through(send: () => Promise<Params>, answerer: Answerer, visit: PageVisit): Promise<Params> {
    try {
      return await send()
    } catch (error) {
      const pages = answerer.answers.elicitUrl ? pagesIn(error) : undefined
      if (!pages) throw error
      const signal = AbortSignal.any([visit.signal, visit.over])
      for (const page of pages) await this.#visit(page, answerer, { ...visit, signal })
      return await send()
    }
  }

  async #visit(page: RequiredPage, answerer: Answerer, visit: PageVisit): Promise<void> {
    const { elicitationId, message } = page
    // Start waiting before asking, because the notice may arrive while the person is being asked.
    const done = this.#wait(elicitationId, visit)
    done.catch(() => {})
    try {
      const { action } = await answerer.answer({ method: 'elicitation/create', params: page }, visit)
      if (action === 'decline') throw new Declined(`The person declined: ${message}`)
      if (action !== 'accept') throw new Cancelled(`The person dismissed the question: ${message}`)
      await done
    } finally {
      this.complete(elicitationId)
    }
  }

  #wait(elicitationId: string, { signal, maxTotalMs, deadlines }: PageVisit): Promise<void> {
    const done = new Promise<void>((resolve) => this.#waiting.set(elicitationId, resolve))
    return orTimeout(orAborted(done, signal), { deadlines, ms: maxTotalMs }, () => {
      throw new McpError('ERR_TIMEOUT', `No notice within ${maxTotalMs} ms that the page was visited (maxTotalMs)`)
    })
  }
}

type RequiredPage = UrlElicitParams & { elicitationId: string }

function pagesIn(error: unknown): RequiredPage[] | undefined {
  if (!(error instanceof RemoteError) || error.code !== URL_ELICITATION_REQUIRED || !isObject(error.data)) return undefined
  const list = error.data.elicitations
  if (!Array.isArray(list) || list.length === 0) return undefined
  const isPage = (each: unknown): boolean =>
    isObject(each) && each.mode === 'url' && typeof each.url === 'string' && typeof each.elicitationId === 'string'
  return list.every(isPage) ? list : undefined
}

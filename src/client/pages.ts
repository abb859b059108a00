/** Requests that fail until the person has visited a page: show the page, wait until it is done, try again. */

import { isObject } from '../base/json.ts'
import { onAbort } from '../base/on-abort.ts'
import type { Deadlines } from '../jsonrpc/deadlines.ts'
import type { Params } from '../jsonrpc/message.ts'
import { RemoteError } from '../jsonrpc/remote-error.ts'
import { Cancelled, Declined, McpError } from '../protocol/errors.ts'
import type { UrlElicitParams } from '../protocol/model/elicitation.ts'
import type { Answerer, Asking } from './answers.ts'

const URL_ELICITATION_REQUIRED = -32042
const MAX_OPEN = 1000

/** Who asks, and how long the person may take. */
export interface Visit extends Asking {
  /** Aborted when the client is closed. */
  over: AbortSignal
  maxTotalMs: number
  deadlines: Deadlines
}

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
  async through(send: () => Promise<Params>, answerer: Answerer, visit: Visit): Promise<Params> {
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

  async #visit(page: RequiredPage, answerer: Answerer, visit: Visit): Promise<void> {
    const { elicitationId, message } = page
    // Waiting starts before the question: the notice may come while the person is still asked.
    const done = this.#wait(elicitationId, visit)
    done.catch(() => {})
    try {
      const { action } = await answerer.answer({ method: 'elicitation/create', params: page }, visit)
      if (action === 'decline') throw new Declined(`The person declined: ${message}`)
      if (action !== 'accept') throw new Cancelled(`The person gave no answer: ${message}`)
      await done
    } finally {
      // Whatever ended the visit, nobody waits for this page any more.
      this.complete(elicitationId)
    }
  }

  #wait(elicitationId: string, { signal, maxTotalMs, deadlines }: Visit): Promise<void> {
    const [oldest] = this.#waiting.keys()
    if (this.#waiting.size >= MAX_OPEN && oldest !== undefined) this.complete(oldest)
    return new Promise((resolve, reject) => {
      // A server need not say that the person is done.
      const deadline = deadlines.set(maxTotalMs, () =>
        settle(() => reject(new McpError('ERR_TIMEOUT', `Nobody said within ${maxTotalMs} ms that the page was visited (maxTotalMs)`))),
      )
      let unwatch = (): void => {}
      const settle = (end: () => void): void => {
        deadlines.clear(deadline)
        unwatch()
        end()
      }
      unwatch = onAbort(signal, () => settle(() => reject(signal.reason as Error)))
      this.#waiting.set(elicitationId, () => settle(resolve))
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

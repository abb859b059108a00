/** Pages that people were sent to. Any replica may hear that a person has finished, and tells the client that asked. */

import { randomId } from '../../../base/bytes.ts'
import type { Counters } from '../../../protocol/interfaces/counters.ts'

interface OpenPage {
  sid: string
  /** The notification for the client. */
  json: string
  /** Tells it from an earlier page with the same id. */
  name: string
}

const entryOf = (elicitationId: string): string => `page ${elicitationId}`

export class SharedPages {
  readonly #counters: Pick<Counters, 'keep' | 'kept' | 'forget'>
  readonly #lifeMs: number

  constructor(counters: Pick<Counters, 'keep' | 'kept' | 'forget'>, lifeMs: number) {
    this.#counters = counters
    this.#lifeMs = lifeMs
  }

  async add(elicitationId: string, sid: string, json: string): Promise<void> {
    const page: OpenPage = { sid, json, name: randomId() }
    await this.#counters.keep(entryOf(elicitationId), JSON.stringify(page), this.#lifeMs)
  }

  /**
   * The page, for the first taker; undefined if it is unknown.
   *
   * @param taker a random name. The same taker gets the page again, if it got no reply
   */
  async take(elicitationId: string, taker: string): Promise<OpenPage | undefined> {
    const kept = await this.#counters.kept(entryOf(elicitationId))
    if (kept === undefined) return undefined
    const page = JSON.parse(kept) as OpenPage
    return (await this.#counters.keep(`finished ${page.name}`, taker, this.#lifeMs)) === taker ? page : undefined
  }

  /** Forgets a page that was taken, so that a later one may have the same id. */
  async end(elicitationId: string): Promise<void> {
    await this.#counters.forget(entryOf(elicitationId))
  }
}

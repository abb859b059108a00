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
  readonly #counters: Pick<Counters, 'keep' | 'kept' | 'first'>
  readonly #lifeMs: number

  constructor(counters: Pick<Counters, 'keep' | 'kept' | 'first'>, lifeMs: number) {
    this.#counters = counters
    this.#lifeMs = lifeMs
  }

  async add(elicitationId: string, sid: string, json: string): Promise<void> {
    const page: OpenPage = { sid, json, name: randomId() }
    await this.#counters.keep(entryOf(elicitationId), JSON.stringify(page), this.#lifeMs)
  }

  /** The page, once; undefined if it is unknown. */
  async take(elicitationId: string): Promise<OpenPage | undefined> {
    const entry = entryOf(elicitationId)
    const kept = await this.#counters.kept(entry)
    if (kept === undefined) return undefined
    const page = JSON.parse(kept) as OpenPage
    if (!(await this.#counters.first(`finished ${page.name}`, this.#lifeMs))) return undefined
    // Ends now, so that a later page may have the same id.
    await this.#counters.keep(entry, kept, 1)
    return page
  }
}

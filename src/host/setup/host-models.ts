/** The models of a host: those of its options, and those that the person stored. */

import { McpError } from '../../protocol/errors.ts'
import type { Model } from '../language-models/language-model.ts'
import type { StoredModels } from '../language-models/stored-models.ts'

export class HostModels {
  readonly stored: StoredModels
  readonly #given: readonly (Model | string)[]
  readonly #fallback: Model | undefined

  /**
   * @param given models, and names of stored ones
   * @throws McpError ERR_CONFIG for a name of no stored model
   */
  constructor(given: readonly (Model | string)[], stored: StoredModels, fallback: Model | undefined) {
    this.#given = given
    this.stored = stored
    this.#fallback = fallback
    const unknown = given.find((each) => typeof each === 'string' && !stored.models.some(({ id }) => id === each))
    if (unknown !== undefined) throw new McpError('ERR_CONFIG', `No stored model has the name ${JSON.stringify(unknown)}`)
  }

  /** The first is the default. */
  list(): readonly Model[] {
    const { models: stored } = this.stored
    const first = this.#given.flatMap((each) => (typeof each === 'string' ? (stored.find(({ id }) => id === each) ?? []) : each))
    const all = [...first, ...stored.filter((each) => !first.some(({ id }) => id === each.id))]
    return all.length === 0 && this.#fallback ? [this.#fallback] : all
  }
}

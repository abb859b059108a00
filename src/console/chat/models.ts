/** The models that a chat can use: those of the host, the scripted one, and the person. */

import type { Host, Model } from '../../host/index.ts'
import type { ModelView } from '../api.ts'
import { invalid } from '../errors.ts'
import type { ModelTurns } from './model-turns.ts'

const SCRIPTED = { id: 'scripted', label: 'scripted (no language model)', kind: 'scripted' } as const
const PERSON = { id: 'person', label: 'you (no language model)', kind: 'person' } as const

export class ChatModels {
  readonly #host: Pick<Host, 'models'>
  readonly #turns: ModelTurns

  constructor(host: Pick<Host, 'models'>, turns: ModelTurns) {
    this.#host = host
    this.#turns = turns
  }

  /** The first is the default. */
  list(): ModelView[] {
    const own = this.#host.models.map(({ id, label }): ModelView => ({ id, label, kind: id === SCRIPTED.id ? 'scripted' : 'configured' }))
    return [...own, ...[SCRIPTED, PERSON].filter(({ id }) => !own.some((model) => model.id === id))]
  }

  /** @throws ApiError 400 for an unknown model */
  check(wanted: string | undefined): ModelView {
    const all = this.list()
    const found = wanted === undefined ? all[0] : all.find(({ id }) => id === wanted)
    if (found) return found
    throw invalid(`model: expected one of ${all.map(({ id }) => id).join(', ')}, got ${JSON.stringify(wanted)}`)
  }

  /** @param chat the operation and the conversation that the model answers in */
  async open({ id }: ModelView, chat: { operation: string; conversation: string }): Promise<Model> {
    const own = this.#host.models.find((model) => model.id === id)
    if (own) return own
    if (id === PERSON.id) return this.#turns.model(chat)
    return (await import('../../testing/index.ts')).scriptedModel()
  }
}

/** Result to answer, in the shape and with the dress of a revision. What does not change is written once. */

import type { Exchange } from '../jsonrpc/exchange.ts'
import { isObject, type Params } from '../jsonrpc/message.ts'
import { type Implementation, META } from '../protocol/base.ts'
import type { Revision } from '../revisions/revision.ts'

export class Serialiser {
  readonly #dress: string
  readonly #serverInfo: Implementation
  /** Text of results that are kept and given out again, such as the pages of a list. */
  readonly #kept = new WeakMap<Params, Map<Revision, string>>()

  constructor(serverInfo: Implementation) {
    this.#serverInfo = serverInfo
    this.#dress = `{"resultType":"complete","_meta":${JSON.stringify({ [META.serverInfo]: serverInfo })}`
  }

  /** @param isKept the same object will come again */
  answer(exchange: Exchange, result: Params, revision: Revision, isKept: boolean): void {
    const { method } = exchange
    if (isKept) return exchange.answerWritten(this.#written(method, result, revision))
    if (revision.dialect === 'session') return exchange.answer(revision.fitResult(method, result))
    exchange.answerWritten(this.#write(method, result, revision))
  }

  #written(method: string, result: Params, revision: Revision): string {
    let texts = this.#kept.get(result)
    if (!texts) {
      texts = new Map()
      this.#kept.set(result, texts)
    }
    let json = texts.get(revision)
    if (json === undefined) {
      json = this.#write(method, result, revision)
      texts.set(revision, json)
    }
    return json
  }

  #write(method: string, result: Params, revision: Revision): string {
    const fitted = revision.fitResult(method, result)
    if (revision.dialect === 'session') return JSON.stringify(fitted)
    if ('_meta' in fitted || 'resultType' in fitted) return JSON.stringify(this.#dressed(fitted))
    const json = JSON.stringify(fitted)
    return json === '{}' ? `${this.#dress}}` : `${this.#dress},${json.slice(1)}`
  }

  #dressed(result: Params): Params {
    const meta = isObject(result._meta) ? result._meta : {}
    return { resultType: 'complete', ...result, _meta: { [META.serverInfo]: this.#serverInfo, ...meta } }
  }
}

/** Result to answer, in the shape and with the dress of a revision. What does not change is written once. */

import { isObject } from '../base/json.ts'
import type { Exchange } from '../jsonrpc/exchange.ts'
import { KeptText } from '../jsonrpc/kept-text.ts'
import type { Params } from '../jsonrpc/message.ts'
import { jsonOf } from '../jsonrpc/write.ts'
import { type Implementation, META } from '../protocol/model/base.ts'
import type { Revision } from '../revisions/revision.ts'
import { isEncodedHere } from './content.ts'

export class Serialiser {
  readonly #dress: string
  readonly #serverInfo: Implementation
  /** Text of results that are kept and given out again, such as the pages of a list. */
  readonly #kept = new WeakMap<Params, Map<Revision, KeptText>>()

  constructor(serverInfo: Implementation) {
    this.#serverInfo = serverInfo
    this.#dress = `{"resultType":"complete","_meta":${JSON.stringify({ [META.serverInfo]: serverInfo })}`
  }

  /** @param isKept the same object will come again */
  answer(exchange: Exchange, result: Params, revision: Revision, isKept: boolean): void {
    const { method } = exchange
    if (isKept) exchange.answerKept(this.#written(method, result, revision))
    else exchange.answerWritten(this.#write(method, result, revision))
  }

  #written(method: string, result: Params, revision: Revision): KeptText {
    let texts = this.#kept.get(result)
    if (!texts) {
      texts = new Map()
      this.#kept.set(result, texts)
    }
    let kept = texts.get(revision)
    if (!kept) {
      kept = new KeptText(this.#write(method, result, revision))
      texts.set(revision, kept)
    }
    return kept
  }

  #write(method: string, result: Params, revision: Revision): string {
    const fitted = revision.downgradeResult(method, result)
    const isBare = revision.dialect === 'session'
    if (!isBare && ('_meta' in fitted || 'resultType' in fitted)) return jsonOf(this.#dressed(fitted))
    const json = textResultJson(fitted) ?? blobResultJson(fitted) ?? jsonOf(fitted)
    if (isBare) return json
    return json === '{}' ? `${this.#dress}}` : `${this.#dress},${json.slice(1)}`
  }

  #dressed(result: Params): Params {
    const meta = isObject(result._meta) ? result._meta : {}
    return { resultType: 'complete', ...result, _meta: { [META.serverInfo]: this.#serverInfo, ...meta } }
  }
}

/**
 * Most results are one text and nothing else, and text alone is written in a quarter of the time.
 * Undefined for all others.
 */
function textResultJson(result: Params): string | undefined {
  const { content } = result
  if (!Array.isArray(content) || content.length !== 1) return undefined
  const block = content[0] as unknown
  if (!isObject(block) || block.type !== 'text' || typeof block.text !== 'string') return undefined
  if (!hasOnly(result, 1) || !hasOnly(block, 2)) return undefined
  return `{"content":[{"type":"text","text":${JSON.stringify(block.text)}}]}`
}

/** A blob of our own making goes into the text as it is: looking through megabytes for quotes costs more than the rest. */
function blobResultJson(result: Params): string | undefined {
  const { contents, ...rest } = result
  if (!Array.isArray(contents) || !contents.some(isEncodedHere)) return undefined
  const written = contents.map((each: unknown) => {
    if (!isEncodedHere(each)) return jsonOf(each as Params)
    const { blob, ...about } = each
    return `${jsonOf(about).slice(0, -1)},"blob":"${blob}"}`
  })
  const head = jsonOf(rest)
  return `${head === '{}' ? '{' : `${head.slice(0, -1)},`}"contents":[${written.join(',')}]}`
}

/** Whether a plain object has so many members and no more. */
function hasOnly(object: Params, count: number): boolean {
  if (Object.getPrototypeOf(object) !== Object.prototype) return false
  let members = 0
  for (const _ in object) members++
  return members === count
}

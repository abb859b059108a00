/** Records to be written at the end of the log, and where the log will end afterwards. */

import type { Checkpoint, RecordBody } from '../../model/audit-record.ts'
import { lineOf, seal } from './chain.ts'
import type { Tail } from './tail.ts'

export class PendingRecords {
  readonly from: Tail
  readonly checkpoints: Checkpoint[] = []
  readonly #lines: Buffer[] = []
  #unsigned: string[]
  #tail: Tail

  constructor(from: Tail) {
    this.from = from
    this.#unsigned = [...from.unsigned]
    this.#tail = { ...from, unsigned: this.#unsigned }
  }

  get tail(): Tail {
    return this.#tail
  }

  add(body: RecordBody): this {
    this.tryAdd(body, Number.POSITIVE_INFINITY)
    return this
  }

  /** Adds a record. Returns false if its line would be longer than `maxBytes`. */
  tryAdd(body: RecordBody, maxBytes: number): boolean {
    const { segment, size, link } = this.#tail
    const record = seal(body, link, Date.now())
    const line = Buffer.from(lineOf(record))
    if (line.length > maxBytes) return false
    this.#lines.push(line)
    if (body.kind === 'checkpoint') {
      this.checkpoints.push(body.checkpoint)
      this.#unsigned = []
    } else this.#unsigned.push(record.hash)
    this.#tail = {
      segment,
      size: size + line.length,
      link: { seq: record.seq, hash: record.hash },
      begunAt: body.kind === 'segment' ? record.at : this.#tail.begunAt,
      unsigned: this.#unsigned,
    }
    return true
  }

  bytes(): Buffer {
    return Buffer.concat(this.#lines)
  }
}

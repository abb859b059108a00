/**
 * Copies checkpoints to a second location. A process that can write to the log's folder can cut off its end or rewrite it; the copies
 * reveal that.
 */

import { open } from 'node:fs/promises'
import { isObject } from '../../../base/json.ts'
import { readPrivate } from '../../../files/private-file.ts'
import { McpError } from '../../../protocol/errors.ts'
import { canonicalJson } from '../../../protocol/model/digest-json.ts'
import type { Checkpoint } from '../../model/audit-record.ts'

/** Where checkpoints are copied: a file, best on another disk or machine, with one line per checkpoint; or a function. */
export type AnchorSink = string | ((checkpoint: Checkpoint) => void | Promise<void>)

export interface Anchoring {
  put(checkpoints: readonly Checkpoint[]): void
  /** Resolves when all checkpoints are copied, or their failure is reported. */
  settled(): Promise<void>
}

/** After a failure, this many of the newest checkpoints are kept for the next attempt. A checkpoint also confirms the earlier ones. */
const MAX_WAITING = 100
const MAX_ANCHOR_FILE_BYTES = 64 * 1024 * 1024

export function anchoring(sink: AnchorSink | undefined, onWarning?: (text: string) => void): Anchoring {
  const waiting: Checkpoint[] = []
  let placing = Promise.resolve()
  const place = typeof sink === 'string' ? (checkpoint: Checkpoint) => appendAnchor(sink, checkpoint) : sink
  const placeAll = async (): Promise<void> => {
    try {
      for (let next = waiting[0]; next && place; next = waiting[0]) {
        await place(next)
        waiting.shift()
      }
    } catch (error) {
      onWarning?.(`A checkpoint of the audit log could not be copied to its anchor: ${(error as Error).message}`)
      waiting.splice(0, waiting.length - MAX_WAITING)
    }
  }
  return {
    put: (checkpoints) => {
      if (!place || checkpoints.length === 0) return
      waiting.push(...checkpoints)
      placing = placing.then(placeAll)
    },
    settled: () => placing,
  }
}

/**
 * Appends a checkpoint to an anchor file, and creates the file if needed.
 *
 * @example
 * await appendAnchor('/mnt/backup/portico-anchors.jsonl', checkpoint)
 */
export async function appendAnchor(file: string, checkpoint: Checkpoint): Promise<void> {
  const handle = await open(file, 'a', 0o600)
  try {
    await handle.appendFile(`${canonicalJson(checkpoint)}\n`)
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** Reads the checkpoints of an anchor file. An incomplete last line is ignored: its process ended while writing. */
export async function readAnchors(file: string): Promise<Checkpoint[]> {
  const bytes = await readPrivate(file, MAX_ANCHOR_FILE_BYTES)
  if (!bytes) throw new McpError('ERR_AUDIT', `The anchor file ${file} does not exist`)
  const lines = Buffer.from(bytes).toString('utf8').split('\n').slice(0, -1)
  return lines.map((line, at) => {
    try {
      const value: unknown = JSON.parse(line)
      if (isObject(value) && typeof value.head === 'string' && Number.isSafeInteger(value.to)) return value as unknown as Checkpoint
    } catch {
      // Reported below.
    }
    throw new McpError('ERR_AUDIT', `Line ${at + 1} of ${file} is not a checkpoint`)
  })
}

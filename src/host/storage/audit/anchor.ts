/**
 * Checkpoints in a second place. Whoever can write to the folder of a log can cut its end or write all of it anew; what
 * was said elsewhere before shows it.
 */

import { open } from 'node:fs/promises'
import { isObject } from '../../../base/json.ts'
import { readPrivate } from '../../../files/private-file.ts'
import { McpError } from '../../../protocol/errors.ts'
import { canonicalJson } from '../../../protocol/model/canonical-json.ts'
import type { Checkpoint } from '../../model/audit-record.ts'

/** A file, best on another disk or machine, that gets a line for each; or a function. */
export type AnchorSink = string | ((checkpoint: Checkpoint) => void | Promise<void>)

export interface Anchoring {
  put(checkpoints: readonly Checkpoint[]): void
  /** When all were taken, or those that were not have been complained about. */
  settled(): Promise<void>
}

/** Each covers what came after the one before: to have only the newest that could not be placed is enough. */
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
      onWarning?.(`A checkpoint of the audit log could not be put in its second place: ${(error as Error).message}`)
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

/** Adds a checkpoint to such a file, which is made if there is none. */
export async function appendAnchor(file: string, checkpoint: Checkpoint): Promise<void> {
  const handle = await open(file, 'a', 0o600)
  try {
    await handle.appendFile(`${canonicalJson(checkpoint)}\n`)
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** The checkpoints in such a file. A last line without an end was being written when its process ended. */
export async function readAnchors(file: string): Promise<Checkpoint[]> {
  const bytes = await readPrivate(file, MAX_ANCHOR_FILE_BYTES)
  if (!bytes) throw new McpError('ERR_AUDIT', `There is no file ${file} with checkpoints`)
  const lines = Buffer.from(bytes).toString('utf8').split('\n').slice(0, -1)
  return lines.map((line, at) => {
    try {
      const value: unknown = JSON.parse(line)
      if (isObject(value) && typeof value.head === 'string' && Number.isSafeInteger(value.to)) return value as unknown as Checkpoint
    } catch {
      // Said below.
    }
    throw new McpError('ERR_AUDIT', `Line ${at + 1} of ${file} is no checkpoint`)
  })
}

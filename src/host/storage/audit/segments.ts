/** The files of a log: numbered, with complete lines and possibly an incomplete last one. */

import { constants } from 'node:fs'
import { type FileHandle, open, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { codeOf } from '../../../files/private-file.ts'
import { McpError } from '../../../protocol/errors.ts'

export const KEY_FILE = 'log.key'
export const PUBLIC_KEY_FILE = 'public-key.pem'
export const LOCK_FILE = 'log.lock'

const NAME = /^audit-(\d{6,})\.jsonl$/
const READ_BYTES = 256 * 1024
const NEWLINE = 0x0a
const NO_BYTES = Buffer.alloc(0)

export const segmentName = (number: number): string => `audit-${String(number).padStart(6, '0')}.jsonl`

/** The numbers of the segments, in order. Empty if the folder does not exist. */
export async function segmentsIn(folder: string): Promise<number[]> {
  try {
    const names = await readdir(folder)
    return names
      .flatMap((name) => NAME.exec(name)?.[1] ?? [])
      .map(Number)
      .sort((one, other) => one - other)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return []
    throw new McpError('ERR_AUDIT', `The audit log in ${folder} cannot be read (${codeOf(error)})`, { cause: error })
  }
}

export const openSegment = (folder: string, number: number, mode: 'read' | 'append' | 'create'): Promise<FileHandle> =>
  open(join(folder, segmentName(number)), FLAGS[mode] | (constants.O_NOFOLLOW ?? 0), 0o600)

const FLAGS = {
  read: constants.O_RDONLY,
  append: constants.O_RDWR | constants.O_APPEND,
  create: constants.O_RDWR | constants.O_APPEND | constants.O_CREAT,
}

export interface Line {
  text: string
  /** Its position in the file. */
  offset: number
  /** False: the newline is missing. */
  isWhole: boolean
  /** The text with its newline. */
  bytes: Buffer
}

/** Reads lines from a position to the end of the file. A line longer than the bound is returned as incomplete. */
export async function* linesOf(handle: FileHandle, from: number, maxLineBytes: number): AsyncGenerator<Line> {
  let rest = NO_BYTES
  let offset = from
  for (;;) {
    const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(READ_BYTES), 0, READ_BYTES, offset + rest.length)
    if (bytesRead === 0) break
    const data = rest.length === 0 ? buffer.subarray(0, bytesRead) : Buffer.concat([rest, buffer.subarray(0, bytesRead)])
    let start = 0
    for (let end = data.indexOf(NEWLINE); end >= 0; end = data.indexOf(NEWLINE, start)) {
      const bytes = data.subarray(start, end + 1)
      yield { text: data.toString('utf8', start, end), offset: offset + start, isWhole: true, bytes }
      start = end + 1
    }
    rest = data.subarray(start)
    offset += start
    if (rest.length > maxLineBytes) break
  }
  if (rest.length > 0) yield { text: rest.toString('utf8'), offset, isWhole: false, bytes: rest }
}

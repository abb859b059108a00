/**
 * Notes in a folder: a snapshot, and a journal of what was done since. A change is acknowledged when it is on the disk.
 * Several processes may use one folder: each change is made under a lock, to what the others have left there.
 */

import { createHash } from 'node:crypto'
import { constants } from 'node:fs'
import { type FileHandle, open, readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { isObject } from '../../base/json.ts'
import { type LockLimits, withLockFile } from '../../files/lock-file.ts'
import { codeOf, kept, privateFolder, readPrivate, sweep, writePrivate } from '../../files/private-file.ts'
import { McpError } from '../../protocol/errors.ts'
import { apply, type Entry, idOf, isEntry, isNote, type Note } from './note.ts'

export interface JournalLimits extends LockLimits {
  /** The journal is folded into the snapshot when it has grown past this. */
  maxJournalBytes: number
  /** The snapshot, and with it all notes together. */
  maxSnapshotBytes: number
}

export interface Journal {
  /** What is there now, the changes of other processes included. Says which notes are other than before. */
  refresh(): Promise<{ notes: ReadonlyMap<string, Note>; changed: ReadonlySet<string> }>
  /**
   * Decides, while no other process can change anything, and writes down what was decided. Resolves when it is on the
   * disk; when it rejects with ERR_STORE, the change may have been made or not, as after a crash.
   */
  change(decide: (notes: ReadonlyMap<string, Note>) => Entry): Promise<Entry>
}

interface Read {
  generation: number
  /** Of the snapshot, to see that it was replaced. */
  snapshotStamp: string
  notes: Map<string, Note>
  /** How far the journal has been read: the end of its last whole line. */
  offset: number
}

const SNAPSHOT = 'notes.json'
const LEFT_BEHIND_MS = 60 * 60_000

export async function openJournal(folder: string, limits: JournalLimits): Promise<Journal> {
  await privateFolder(folder)
  await sweep(folder, LEFT_BEHIND_MS)
  const lock = join(folder, 'notes.lock')
  let read: Read = { generation: -1, snapshotStamp: '', notes: new Map(), offset: 0 }
  let last: Promise<unknown> = Promise.resolve()

  /** One after the other: they share what was read. */
  const inTurn = <T>(act: () => Promise<T>): Promise<T> => {
    const turn = last.then(act, act)
    last = turn.catch(() => {})
    return turn
  }

  const catchUp = async (): Promise<Set<string>> => {
    const changed = new Set<string>()
    for (let stamp = ''; stamp !== read.snapshotStamp || stamp === ''; ) {
      stamp = await stampOf(join(folder, SNAPSHOT))
      if (stamp !== read.snapshotStamp) {
        const before = read.notes
        read = { ...(await readSnapshot(folder, limits.maxSnapshotBytes)), snapshotStamp: stamp, offset: 0 }
        await readOn(folder, read, new Set())
        for (const id of differences(before, read.notes)) changed.add(id)
      } else await readOn(folder, read, changed)
      // Between the two another process may have folded the one into the other: then what was read is neither.
      stamp = await stampOf(join(folder, SNAPSHOT))
    }
    return changed
  }

  // What was changed by others is told once, whoever happened to read it.
  let untold = new Set<string>()
  const note = (ids: Iterable<string>): void => {
    for (const id of ids) untold.add(id)
  }

  return {
    refresh: () =>
      inTurn(async () => {
        note(await catchUp())
        const changed = untold
        untold = new Set()
        return { notes: read.notes, changed }
      }),
    change: (decide) =>
      inTurn(() =>
        withLockFile(lock, limits, async () => {
          note(await catchUp())
          const entry = decide(read.notes)
          // Before and not after: what fails must not have been done. Removing is possible always.
          if (read.offset > limits.maxJournalBytes && !(await fold(folder, read, limits.maxSnapshotBytes)) && 'put' in entry)
            throw new McpError('ERR_LIMIT', `All notes together take more than ${limits.maxSnapshotBytes} bytes (maxSnapshotBytes)`)
          read.offset = await append(folder, read, entry)
          apply(read.notes, entry)
          note([idOf(entry)])
          return entry
        }),
      ),
  }
}

function differences(before: ReadonlyMap<string, Note>, after: ReadonlyMap<string, Note>): string[] {
  const ids = new Set([...before.keys(), ...after.keys()])
  return [...ids].filter((id) => JSON.stringify(before.get(id)) !== JSON.stringify(after.get(id)))
}

const journalName = (generation: number): string => `journal-${generation}.jsonl`

async function stampOf(file: string): Promise<string> {
  try {
    const { ino, mtimeMs, size } = await stat(file)
    return `${ino} ${mtimeMs} ${size}`
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return 'none'
    throw error
  }
}

async function readSnapshot(folder: string, maxBytes: number): Promise<Pick<Read, 'generation' | 'notes'>> {
  const file = join(folder, SNAPSHOT)
  const bytes = await readPrivate(file, maxBytes)
  if (bytes === undefined) return { generation: 0, notes: new Map() }
  let value: unknown
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch (cause) {
    throw new McpError('ERR_STORE', `${file} is no JSON, or is larger than ${maxBytes} bytes (maxSnapshotBytes)`, { cause })
  }
  if (!isObject(value) || !Number.isInteger(value.generation) || !Array.isArray(value.notes) || !value.notes.every(isNote))
    throw new McpError('ERR_STORE', `${file} holds something else than notes`)
  return { generation: value.generation as number, notes: new Map(value.notes.map((note) => [note.id, note])) }
}

/** Reads the journal from where it was read to before, up to its last whole line. */
async function readOn(folder: string, read: Read, changed: Set<string>): Promise<void> {
  const file = join(folder, journalName(read.generation))
  await kept(file, async () => {
    const handle = await open(file, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0)).catch((error: unknown) => {
      if (codeOf(error) === 'ENOENT') return undefined
      throw error
    })
    if (!handle) return
    try {
      const { size } = await handle.stat()
      if (size <= read.offset) return
      const bytes = Buffer.alloc(size - read.offset)
      const { bytesRead } = await handle.read(bytes, 0, bytes.length, read.offset)
      readLines(file, bytes.subarray(0, bytesRead), read, changed)
    } finally {
      await handle.close()
    }
  })
}

function readLines(file: string, bytes: Buffer, read: Read, changed: Set<string>): void {
  for (let start = 0; start < bytes.length; ) {
    const end = bytes.indexOf(0x0a, start)
    // Still being written, or torn off when its writer died: not acknowledged, so not there.
    if (end < 0) return
    const entry = entryIn(bytes.subarray(start, end))
    if (!entry) {
      // A disk may have kept the end of a torn line and not its beginning. With more behind it, it is no torn line.
      if (end === bytes.length - 1) return
      throw new McpError('ERR_STORE', `${file} is damaged at byte ${read.offset}`)
    }
    apply(read.notes, entry)
    changed.add(idOf(entry))
    read.offset += end + 1 - start
    start = end + 1
  }
}

const SUM_LENGTH = 16

const lineOf = (entry: Entry): string => {
  const json = JSON.stringify(entry)
  return `${sumOf(json)} ${json}\n`
}

const sumOf = (json: string): string => createHash('sha256').update(json).digest('hex').slice(0, SUM_LENGTH)

function entryIn(line: Uint8Array): Entry | undefined {
  const text = Buffer.from(line).toString('utf8')
  const json = text.slice(SUM_LENGTH + 1)
  if (text.slice(0, SUM_LENGTH) !== sumOf(json)) return undefined
  const entry: unknown = JSON.parse(json)
  return isEntry(entry) ? entry : undefined
}

/** Returns the new end. What a writer that died has left after the last whole line is cut off first. */
async function append(folder: string, { generation, offset }: Read, entry: Entry): Promise<number> {
  const file = join(folder, journalName(generation))
  return kept(file, async () => {
    const handle = await open(file, constants.O_RDWR | constants.O_CREAT | (constants.O_NOFOLLOW ?? 0), 0o600)
    try {
      const { size } = await handle.stat()
      if (size < offset) throw new McpError('ERR_STORE', `${file} has lost its end: ${size} bytes, and ${offset} were there`)
      if (size > offset) await handle.truncate(offset)
      const line = Buffer.from(lineOf(entry))
      await writeWhole(handle, line, offset)
      await handle.sync()
      if (offset === 0) await syncFolder(folder)
      return offset + line.length
    } finally {
      await handle.close()
    }
  })
}

async function writeWhole(handle: FileHandle, bytes: Uint8Array, position: number): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const { bytesWritten } = await handle.write(bytes, done, bytes.length - done, position + done)
    done += bytesWritten
  }
}

/** So that the name of a new file outlives a power cut too. Some systems cannot, and then need not. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, constants.O_RDONLY).catch(() => undefined)
  await handle?.sync().catch(() => {})
  await handle?.close()
}

/** False when the notes are too many for a snapshot. The snapshot names the journal that continues it, so there is no moment in which the two do not fit. */
async function fold(folder: string, read: Read, maxBytes: number): Promise<boolean> {
  const generation = read.generation + 1
  const bytes = new TextEncoder().encode(JSON.stringify({ generation, notes: [...read.notes.values()] }))
  // Nothing is lost by not folding: the journal has it all.
  if (bytes.byteLength > maxBytes) return false
  await writePrivate(join(folder, SNAPSHOT), bytes)
  await syncFolder(folder)
  read.generation = generation
  read.offset = 0
  read.snapshotStamp = await stampOf(join(folder, SNAPSHOT))
  for (const name of await readdir(folder)) {
    const [, old] = /^journal-(\d+)\.jsonl$/.exec(name) ?? []
    if (old !== undefined && Number(old) < generation) await rm(join(folder, name), { force: true }).catch(() => {})
  }
  return true
}

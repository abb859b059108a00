/**
 * Stores notes in a folder, as a snapshot and a journal of later changes. A change is acknowledged when it is on disk.
 * Several processes may use one folder: a process takes a lock and reads the changes of the others before its own change.
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
  /** A larger journal is merged into the snapshot. */
  maxJournalBytes: number
  /** Maximum size of the snapshot, and so of all notes together. */
  maxSnapshotBytes: number
}

export interface Journal {
  /** Reads the changes of other processes. Returns all notes, and the ids of those that changed since the last refresh. */
  refresh(): Promise<{ notes: ReadonlyMap<string, Note>; changed: ReadonlySet<string> }>
  /**
   * Calls `decide` under the lock and writes the returned entry. Resolves when the entry is on disk. After a rejection with
   * ERR_STORE the change may or may not have been made, as after a crash.
   */
  change(decide: (notes: ReadonlyMap<string, Note>) => Entry): Promise<Entry>
}

interface Read {
  generation: number
  /** Identifies the snapshot file, to detect a replacement. */
  snapshotStamp: string
  notes: Map<string, Note>
  /** The end of the last complete line read from the journal. */
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

  /** Runs one operation at a time, because they share `read`. */
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
        await readNewEntries(folder, read, new Set())
        for (const id of differences(before, read.notes)) changed.add(id)
      } else await readNewEntries(folder, read, changed)
      // Another process may have merged the journal into the snapshot between the two reads. Then both are read again.
      stamp = await stampOf(join(folder, SNAPSHOT))
    }
    return changed
  }

  // Changes that `refresh` has not reported yet. `change` reads changes of other processes too.
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
          // Checked before the entry is written, so that a failed change has no effect. Removing is always possible.
          if (read.offset > limits.maxJournalBytes && !(await fold(folder, read, limits.maxSnapshotBytes)) && 'put' in entry)
            throw new McpError('ERR_LIMIT', `All notes together are larger than ${limits.maxSnapshotBytes} bytes (maxSnapshotBytes)`)
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
    throw new McpError('ERR_STORE', `${file} is not valid JSON, or is larger than ${maxBytes} bytes (maxSnapshotBytes)`, { cause })
  }
  if (!isObject(value) || !Number.isInteger(value.generation) || !Array.isArray(value.notes) || !value.notes.every(isNote))
    throw new McpError('ERR_STORE', `${file} is not a valid notes file`)
  return { generation: value.generation as number, notes: new Map(value.notes.map((note) => [note.id, note])) }
}

/** Reads the new part of the journal, up to its last complete line. */
async function readNewEntries(folder: string, read: Read, changed: Set<string>): Promise<void> {
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
    // An incomplete line is still being written, or its writer died. It was not acknowledged.
    if (end < 0) return
    const entry = parseEntry(bytes.subarray(start, end))
    if (!entry) {
      // After a crash the disk may hold the end of the last line without its beginning. An invalid line before other lines is damage.
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

function parseEntry(line: Uint8Array): Entry | undefined {
  const text = Buffer.from(line).toString('utf8')
  const json = text.slice(SUM_LENGTH + 1)
  if (text.slice(0, SUM_LENGTH) !== sumOf(json)) return undefined
  const entry: unknown = JSON.parse(json)
  return isEntry(entry) ? entry : undefined
}

/** Appends an entry and returns the new end of the journal. First cuts off an incomplete line of a writer that died. */
async function append(folder: string, { generation, offset }: Read, entry: Entry): Promise<number> {
  const file = join(folder, journalName(generation))
  return kept(file, async () => {
    const handle = await open(file, constants.O_RDWR | constants.O_CREAT | (constants.O_NOFOLLOW ?? 0), 0o600)
    try {
      const { size } = await handle.stat()
      if (size < offset) throw new McpError('ERR_STORE', `${file} was truncated: it has ${size} bytes, expected at least ${offset}`)
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

/** Makes the name of a new file survive a power failure. Errors are ignored: some systems cannot sync folders. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, constants.O_RDONLY).catch(() => undefined)
  await handle?.sync().catch(() => {})
  await handle?.close()
}

/**
 * Merges the journal into a new snapshot. Returns false if the snapshot would be too large. The snapshot names the journal
 * that continues it, so replacing the snapshot file switches both at once.
 */
async function fold(folder: string, read: Read, maxBytes: number): Promise<boolean> {
  const generation = read.generation + 1
  const bytes = new TextEncoder().encode(JSON.stringify({ generation, notes: [...read.notes.values()] }))
  // Nothing is lost: the journal still has every change.
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

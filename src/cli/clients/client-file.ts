/** Reads and writes the file of a client. The content before the last change is kept, so that it can be undone. */

import { createHash, randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, realpath, rename, rm, rmdir, stat, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { isObject } from '../../base/json.ts'
import { type FileFormat, readFormat, writeFormat } from '../../files/file-format.ts'
import { readPlainFile } from '../../files/plain-file.ts'
import { codeOf, privateFolder, readPrivate, removePrivate, writePrivate } from '../../files/private-file.ts'
import { hostFolderOf } from '../connections/host-files.ts'
import { UsageError } from '../errors.ts'
import type { Io } from '../io.ts'

const MAX_BYTES = 32 * 1024 * 1024
const NEW_FILE_MODE = 0o600

/** The text of the file. Undefined if the file does not exist. */
export async function readClientFile(file: string): Promise<string | undefined> {
  try {
    // A byte order mark is kept: the file must not change where nothing was to change.
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(await readPlainFile(file, MAX_BYTES))
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw new UsageError(`Cannot read ${file}: ${(error as Error).message}`)
  }
}

const BACKUP_FORMAT: FileFormat = { version: 1, member: 'change', upgrades: [() => undefined] }

interface Backup {
  file: string
  /** Null if there was no file. */
  before: string | null
  /** Digest of the text that was written. */
  after: string
  /** The outermost folder that was made for the file. */
  madeFolder?: string
}

/**
 * Writes the file in one step, if it is still the one that the person saw.
 * @param before the text that the person saw; undefined for a new file
 */
export async function writeClientFile(io: Pick<Io, 'env'>, file: string, before: string | undefined, after: string): Promise<void> {
  if ((await readClientFile(file)) !== before) throw new UsageError(`${file} was changed meanwhile`, 'Run the command again')
  const backup: Backup = { file, before: before ?? null, after: digestOf(after), ...madeFor(file) }
  const path = backupPath(io, file)
  await privateFolder(dirname(path))
  await writePrivate(path, Buffer.from(JSON.stringify(writeFormat(backup, BACKUP_FORMAT))))
  await replaceFile(file, after)
}

interface Undoable extends Pick<Backup, 'before' | 'madeFolder'> {
  now: string
}

/** The text to go back to: null means that there was no file. Throws UsageError if the last change cannot be undone. */
export async function undoable(io: Pick<Io, 'env'>, file: string): Promise<Undoable> {
  const bytes = await readPrivate(backupPath(io, file), 2 * MAX_BYTES)
  const backup: unknown = bytes && readFormat(JSON.parse(Buffer.from(bytes).toString('utf8')), BACKUP_FORMAT).data
  if (!isBackup(backup)) throw new UsageError(`There is no change of ${file} to undo`)
  const now = await readClientFile(file)
  if (now === undefined || digestOf(now) !== backup.after)
    throw new UsageError(
      `${file} was changed since, so the change cannot be undone`,
      'Remove the entry: portico uninstall NAME --client CLIENT',
    )
  return { now, before: backup.before, ...(backup.madeFolder !== undefined && { madeFolder: backup.madeFolder }) }
}

export async function undo(io: Pick<Io, 'env'>, file: string): Promise<void> {
  const { before, madeFolder } = await undoable(io, file)
  if (before === null) {
    await rm(file)
    if (madeFolder !== undefined) await removeEmpty(dirname(file), madeFolder)
  } else await replaceFile(file, before)
  await removePrivate(backupPath(io, file))
}

/** The outermost folder that is missing above the file. */
function madeFor(file: string): Pick<Backup, 'madeFolder'> {
  let missing: string | undefined
  for (let folder = dirname(file); !existsSync(folder) && folder !== dirname(folder); folder = dirname(folder)) missing = folder
  return missing === undefined ? {} : { madeFolder: missing }
}

/** Removes empty folders from the inner one to the outer one. A folder with something in it stays, and so do those above it. */
async function removeEmpty(inner: string, outer: string): Promise<void> {
  try {
    for (let folder = inner; `${folder}/`.startsWith(`${outer}/`); folder = dirname(folder)) await rmdir(folder)
  } catch (error) {
    if (!['ENOTEMPTY', 'EEXIST', 'ENOENT'].includes(codeOf(error) ?? '')) throw error
  }
}

/** Where the file really is, after all links. A file that does not exist yet is below a folder that does. */
export async function realFile(file: string): Promise<string> {
  try {
    return await realpath(file)
  } catch {
    return dirname(file) === file ? file : join(await realFile(dirname(file)), basename(file))
  }
}

const isBackup = (value: unknown): value is Backup =>
  isObject(value) &&
  typeof value.after === 'string' &&
  (value.before === null || typeof value.before === 'string') &&
  (value.madeFolder === undefined || typeof value.madeFolder === 'string')

const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex')

const backupPath = (io: Pick<Io, 'env'>, file: string): string =>
  join(hostFolderOf(io), 'client-files', `${digestOf(file).slice(0, 32)}.json`)

/** Follows a link, so that a file that the person keeps among their dotfiles stays there. */
async function replaceFile(file: string, text: string): Promise<void> {
  const real = await realpath(file).catch(() => file)
  const mode = await stat(real).then(
    (about) => about.mode & 0o777,
    () => NEW_FILE_MODE,
  )
  await mkdir(dirname(real), { recursive: true })
  const part = `${real}.${randomUUID()}.part`
  try {
    await writeFile(part, text, { mode })
    await rename(part, real)
  } catch (error) {
    await rm(part, { force: true })
    throw error
  }
}

/**
 * A folder of encrypted values, one file each. Processes may share it: a value is always replaced as a whole, and `withLock`
 * works between processes.
 */

import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { withLockFile } from '../../../files/lock-file.ts'
import { kept, privateFolder, readPrivate, removePrivate, sweep, writePrivate } from '../../../files/private-file.ts'
import { McpError } from '../../../protocol/errors.ts'
import type { FileStoreLimits, Keychain } from '../options.ts'
import { type Sealer, sealer } from '../seal.ts'
import { systemKeychain } from './keychain.ts'
import { keyFromFile, keyFromKeychain, keyFromPassphrase } from './store-key.ts'

export interface SealedFolderOptions {
  folder: string
  /** What the folder contains, in the plural: for messages and for the name of the keychain entry. */
  what: string
  /** The suffix of the value files. */
  suffix: string
  /** Maps a key, which may be any text, to a valid file name. */
  fileName: (key: string) => string
  passphrase?: string | undefined
  keychain?: Keychain | false | undefined
  /** The largest entry. A peer may have a part in its size. */
  maxEntryBytes: number
  limits: FileStoreLimits
  onWarning: (message: string) => void
}

export interface SealedFolder {
  /** Undefined if there is no entry. The value is undefined if the file was changed or encrypted with another key. */
  read(key: string): Promise<{ value: string | undefined } | undefined>
  write(key: string, value: string): Promise<void>
  remove(key: string): Promise<void>
  /** The names of all value files, without the suffix. */
  fileNames(): Promise<string[]>
  withLock<T>(key: string, run: () => Promise<T>): Promise<T>
}

const OVERHEAD_BYTES = 64
/** People use a few dozen servers and secrets. More entries mean that a server invents them. */
const MAX_ENTRIES = 1000
const LEFTOVER_MS = 10 * 60_000

export async function openSealedFolder(options: SealedFolderOptions): Promise<SealedFolder> {
  const { folder, suffix, maxEntryBytes, limits } = options
  const pathOf = (key: string): string => join(folder, options.fileName(key))
  const { seal, open, warning } = await sealerFor(options)
  let hasWarned = false
  const fileNames = async (): Promise<string[]> =>
    (await kept(folder, () => readdir(folder))).filter((name) => name.endsWith(suffix)).map((name) => name.slice(0, -suffix.length))

  /** A peer that influences the keys must not be able to fill the disk. */
  const checkRoom = (key: string, names: readonly string[]): void => {
    if (names.length < MAX_ENTRIES || names.includes(options.fileName(key))) return
    throw new McpError('ERR_LIMIT', `${folder} has ${names.length} entries, the maximum`)
  }

  return {
    read: async (key) => {
      const sealed = await readPrivate(pathOf(key) + suffix, maxEntryBytes + OVERHEAD_BYTES)
      return sealed && { value: await open(key, sealed) }
    },
    write: async (key, value) => {
      const size = new TextEncoder().encode(value).byteLength
      if (size > maxEntryBytes) throw new McpError('ERR_LIMIT', `An entry has ${size} bytes, more than ${maxEntryBytes}`)
      const names = await fileNames()
      checkRoom(key, names)
      // Only before the first entry: an empty store has nothing to protect, and the person need not read it at every start.
      if (warning !== undefined && names.length === 0 && !hasWarned) options.onWarning(warning)
      hasWarned = true
      await writePrivate(pathOf(key) + suffix, await seal(key, value))
    },
    remove: (key) => removePrivate(pathOf(key) + suffix),
    fileNames,
    withLock: (key, run) => withLockFile(`${pathOf(key)}.lock`, limits, run),
  }
}

async function sealerFor({ folder, what, passphrase, keychain, limits }: SealedFolderOptions): Promise<Sealer & { warning?: string }> {
  await privateFolder(folder)
  await kept(folder, () => sweep(folder, LEFTOVER_MS))
  if (passphrase !== undefined) return sealer(await keyFromPassphrase(folder, passphrase))
  const ring = keychain ?? (await systemKeychain())
  if (ring) return sealer(await keyFromKeychain(ring, `${what} in ${folder}`, (run) => withLockFile(join(folder, 'key.lock'), limits, run)))
  const warning = `There is no keychain: the key of the ${what} in ${folder} is in a file beside them, so only file permissions protect them`
  return { ...(await sealer(await keyFromFile(join(folder, 'key')))), warning }
}

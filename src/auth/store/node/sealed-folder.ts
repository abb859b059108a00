/**
 * A folder of values, each a file of its own, encrypted and bound to its key. Processes share it: a value is replaced as a
 * whole, and `withLock` holds between processes.
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
  /** What is kept there, in the plural: for messages, and for the entry in the keychain. */
  what: string
  /** How the files of values end. */
  suffix: string
  /** A key may be long and contain anything; a name of a file may not. */
  fileName: (key: string) => string
  passphrase?: string | undefined
  keychain?: Keychain | false | undefined
  limits: FileStoreLimits
  onWarning: (message: string) => void
}

export interface SealedFolder {
  /** Undefined when there is none; without a value when it was altered, or sealed with another key. */
  read(key: string): Promise<{ value: string | undefined } | undefined>
  write(key: string, value: string): Promise<void>
  remove(key: string): Promise<void>
  /** The names of the files of all values, without the suffix. */
  fileNames(): Promise<string[]>
  withLock<T>(key: string, run: () => Promise<T>): Promise<T>
}

const OVERHEAD_BYTES = 64
const LEFTOVER_MS = 10 * 60_000

export async function openSealedFolder(options: SealedFolderOptions): Promise<SealedFolder> {
  const { folder, suffix, limits } = options
  const pathOf = (key: string): string => join(folder, options.fileName(key))
  const { seal, open, warning } = await sealerFor(options)
  let isTold = false
  const fileNames = async (): Promise<string[]> =>
    (await kept(folder, () => readdir(folder))).filter((name) => name.endsWith(suffix)).map((name) => name.slice(0, -suffix.length))

  /** Whoever chooses the keys must not fill the disk. */
  const refuseIfFull = async (key: string): Promise<void> => {
    const names = await fileNames()
    if (names.length < limits.maxEntries || names.includes(options.fileName(key))) return
    throw new McpError('ERR_LIMIT', `${folder} has ${names.length} entries (maxEntries)`)
  }

  return {
    read: async (key) => {
      const sealed = await readPrivate(pathOf(key) + suffix, limits.maxEntryBytes + OVERHEAD_BYTES)
      return sealed && { value: await open(key, sealed) }
    },
    write: async (key, value) => {
      const size = new TextEncoder().encode(value).byteLength
      if (size > limits.maxEntryBytes)
        throw new McpError('ERR_LIMIT', `An entry of ${size} bytes is larger than maxEntryBytes, ${limits.maxEntryBytes}`)
      await refuseIfFull(key)
      // Not before: where nothing is kept, nothing is in danger.
      if (warning !== undefined && !isTold) options.onWarning(warning)
      isTold = true
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
  const warning = `There is no keychain: the key of the ${what} in ${folder} is in a file beside them, and protects them no better than its permissions do`
  return { ...(await sealer(await keyFromFile(join(folder, 'key')))), warning }
}

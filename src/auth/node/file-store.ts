/**
 * Tokens in a folder, each entry a file of its own, encrypted and bound to its key. Processes share it: an entry is replaced
 * as a whole, and `withLock` holds between processes.
 */

import { createHash } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { withLockFile } from '../../files/lock-file.ts'
import { kept, privateFolder, readPrivate, removePrivate, sweep, writePrivate } from '../../files/private-file.ts'
import { userFolder } from '../../files/user-folder.ts'
import { McpError } from '../../protocol/errors.ts'
import type { TokenStore } from '../client/ports.ts'
import { DEFAULT_FILE_STORE_LIMITS, type FileStoreLimits, type FileStoreOptions } from '../store/options.ts'
import { type Sealer, sealer } from '../store/seal.ts'
import { systemKeychain } from './keychain.ts'
import { keyFromFile, keyFromKeychain, keyFromPassphrase } from './store-key.ts'

const OVERHEAD_BYTES = 64
const SUFFIX = '.token'
const LEFTOVER_MS = 10 * 60_000

export async function openFileStore(options: FileStoreOptions): Promise<TokenStore> {
  const folder = resolve(options.folder ?? userFolder('tokens'))
  const limits = { ...DEFAULT_FILE_STORE_LIMITS, ...options.limits }
  const warn = options.onWarning ?? ((message) => process.emitWarning(message, { code: 'PORTICO_TOKENS' }))
  // A key or an issuer may be long and contain anything; a name of a file may not.
  const fileOf = (key: string): string => join(folder, createHash('sha256').update(key).digest('base64url'))
  const { seal, open } = await sealerFor({ ...options, folder }, limits, warn)

  return {
    get: async (key) => {
      const sealed = await readPrivate(fileOf(key) + SUFFIX, limits.maxEntryBytes + OVERHEAD_BYTES)
      if (sealed === undefined) return undefined
      const value = await open(key, sealed)
      // It is as good as not there: whoever asks logs in again, and that replaces it.
      if (value === undefined) warn(`An entry in ${folder} cannot be decrypted, and is passed over`)
      return value
    },
    set: async (key, value) => {
      const size = new TextEncoder().encode(value).byteLength
      if (size > limits.maxEntryBytes)
        throw new McpError('ERR_LIMIT', `An entry of ${size} bytes is larger than maxEntryBytes, ${limits.maxEntryBytes}`)
      const file = fileOf(key) + SUFFIX
      await refuseIfFull(folder, file, limits.maxEntries)
      await writePrivate(file, await seal(key, value))
    },
    delete: (key) => removePrivate(fileOf(key) + SUFFIX),
    withLock: (key, run) => withLockFile(`${fileOf(key)}.lock`, limits, run),
  }
}

async function sealerFor(
  options: FileStoreOptions & { folder: string },
  limits: FileStoreLimits,
  warn: (message: string) => void,
): Promise<Sealer> {
  const { folder, passphrase, keychain } = options
  await privateFolder(folder)
  await kept(folder, () => sweep(folder, LEFTOVER_MS))
  if (passphrase !== undefined) return sealer(await keyFromPassphrase(folder, passphrase))
  const ring = keychain ?? (await systemKeychain())
  if (ring) return sealer(await keyFromKeychain(ring, `tokens in ${folder}`, (run) => withLockFile(join(folder, 'key.lock'), limits, run)))
  warn(
    `There is no keychain: the key of the tokens in ${folder} is in a file beside them, and protects them no better than its permissions do`,
  )
  return sealer(await keyFromFile(join(folder, 'key')))
}

/** A server that names ever new authorization servers must not fill the disk. */
async function refuseIfFull(folder: string, file: string, maxEntries: number): Promise<void> {
  const entries = (await kept(folder, () => readdir(folder))).filter((name) => name.endsWith(SUFFIX))
  if (entries.length < maxEntries || entries.some((name) => join(folder, name) === file)) return
  throw new McpError('ERR_LIMIT', `${folder} has ${entries.length} entries (maxEntries)`)
}

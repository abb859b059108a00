/** The token store in encrypted files. */

import { createHash } from 'node:crypto'
import { resolve } from 'node:path'
import { userFolder } from '../../../files/user-folder.ts'
import { withDefaults } from '../../../protocol/with-defaults.ts'
import { DEFAULT_FILE_STORE_LIMITS, type FileStoreOptions } from '../options.ts'
import type { TokenStore } from '../token-store.ts'
import { openSealedFolder } from './sealed-folder.ts'

/** Tokens of one server, with its metadata. Real ones have a few kilobytes. */
const MAX_ENTRY_BYTES = 256 * 1024

export async function openFileStore(options: FileStoreOptions): Promise<TokenStore> {
  const folder = resolve(options.folder ?? userFolder('tokens'))
  const onWarning = options.onWarning ?? ((message) => process.emitWarning(message, { code: 'PORTICO_TOKENS' }))
  const sealed = await openSealedFolder({
    folder,
    what: 'tokens',
    suffix: '.token',
    fileName: (key) => createHash('sha256').update(key).digest('base64url'),
    passphrase: options.passphrase,
    keychain: options.keychain,
    maxEntryBytes: MAX_ENTRY_BYTES,
    limits: withDefaults(DEFAULT_FILE_STORE_LIMITS, options.limits),
    onWarning,
  })
  return {
    get: async (key) => {
      const entry = await sealed.read(key)
      // Treated as missing: the next login replaces it.
      if (entry && entry.value === undefined) onWarning(`Ignored an entry in ${folder} that cannot be decrypted`)
      return entry?.value
    },
    set: sealed.write,
    delete: sealed.remove,
    withLock: sealed.withLock,
  }
}

/** The token store in the keychain of the system. */

import { createHash } from 'node:crypto'
import { join, resolve } from 'node:path'
import { withLockFile } from '../../../files/lock-file.ts'
import { privateFolder } from '../../../files/private-file.ts'
import { userFolder } from '../../../files/user-folder.ts'
import { McpError } from '../../../protocol/errors.ts'
import { withDefaults } from '../../../protocol/with-defaults.ts'
import { DEFAULT_FILE_STORE_LIMITS, type KeychainStoreOptions } from '../options.ts'
import type { TokenStore } from '../token-store.ts'
import { systemKeychain, withStoreErrors } from './keychain.ts'

export async function openKeychainStore(options: KeychainStoreOptions): Promise<TokenStore> {
  const found = options.keychain ?? (await systemKeychain())
  if (!found) throw new McpError('ERR_STORE', 'Expected a keychain on this system, but found none, or it is locked')
  const keychain = withStoreErrors(found)
  const folder = resolve(options.folder ?? userFolder('tokens'))
  const limits = withDefaults(DEFAULT_FILE_STORE_LIMITS, options.limits)
  await privateFolder(folder)
  return {
    get: (key) => keychain.read(`token ${key}`),
    set: (key, value) => keychain.write(`token ${key}`, value),
    delete: (key) => keychain.remove(`token ${key}`),
    withLock: (key, run) => withLockFile(join(folder, `${createHash('sha256').update(key).digest('base64url')}.lock`), limits, run),
  }
}

/** Stores secrets by name, encrypted on the disk. The key is in the keychain or derived from a passphrase. */

import { resolve } from 'node:path'
import { openSealedFolder } from '../../auth/store/node/sealed-folder.ts'
import { DEFAULT_FILE_STORE_LIMITS, type Keychain } from '../../auth/store/options.ts'
import { userFolder } from '../../files/user-folder.ts'
import { McpError } from '../../protocol/errors.ts'

export interface VaultOptions {
  /** Other users must not be able to read it. Default: a folder in the user's home. */
  folder?: string
  /** The key is derived from it. Default: a key in the keychain, or in a file beside the secrets if there is no keychain. */
  passphrase?: string
  /** A keychain in place of the system's; `false` for none. */
  keychain?: Keychain | false
  /** Reports a weak protection. Default: a warning of the process. */
  onWarning?: (message: string) => void
}

/** Secrets that configurations refer to as `${secret:NAME}`. `openVault` opens it. */
export interface Vault {
  /**
   * Undefined if there is no such secret.
   * @throws McpError ERR_SECRET if its file was changed
   */
  get(name: string): Promise<string | undefined>
  /** Stores a secret, and replaces the one with the same name. */
  set(name: string, value: string): Promise<void>
  /** Deletes a secret, if it exists. */
  delete(name: string): Promise<void>
  /** All names, sorted. */
  list(): Promise<string[]>
  /** Stores a value under this name, or under a similar name if it is taken. Resolves with the name. */
  keep(name: string, value: string): Promise<string>
}

/** The largest secret. Long keys and certificates fit. */
const MAX_SECRET_BYTES = 64 * 1024

const MAX_NAME_CHARS = 100
/** Names that fit into a placeholder and, as hexadecimal digits, into a file name on every system. */
const NAME = /^[A-Za-z0-9_][A-Za-z0-9_./-]{0,99}$/
/** An entry that proves that the key is the right one. No secret can have this name. */
const CHECK = 'is this the key?'

/**
 * Opens a vault, and creates it with the first call.
 * @throws McpError ERR_STORE if the secrets were encrypted with a different passphrase or key
 * @example
 * const vault = await openVault({ passphrase })
 * await vault.set('GITHUB_TOKEN', token)
 */
export async function openVault(options: VaultOptions = {}): Promise<Vault> {
  const folder = resolve(options.folder ?? userFolder('secrets'))
  const sealed = await openSealedFolder({
    folder,
    what: 'secrets',
    suffix: '.secret',
    fileName: (name) => Buffer.from(name).toString('hex'),
    passphrase: options.passphrase,
    keychain: options.keychain,
    maxEntryBytes: MAX_SECRET_BYTES,
    limits: DEFAULT_FILE_STORE_LIMITS,
    onWarning: options.onWarning ?? ((message) => process.emitWarning(message, { code: 'PORTICO_SECRETS' })),
  })
  await sealed.withLock(CHECK, async () => {
    const check = await sealed.read(CHECK)
    if (!check) return sealed.write(CHECK, '')
    // Secrets that are stored with a wrong key could never be read with the right one.
    if (check.value === undefined) throw new McpError('ERR_STORE', `The secrets in ${folder} were encrypted with another passphrase or key`)
  })

  const get = async (name: string): Promise<string | undefined> => {
    refuseIfUnfit(name)
    const entry = await sealed.read(name)
    if (entry && entry.value === undefined) {
      throw new McpError('ERR_SECRET', `The secret ${name} cannot be decrypted: its file was changed. Set it again`)
    }
    return entry?.value
  }
  return {
    get,
    set: async (name, value) => {
      refuseIfUnfit(name)
      await sealed.write(name, value)
    },
    delete: async (name) => {
      refuseIfUnfit(name)
      await sealed.remove(name)
    },
    list: async () => {
      const names = (await sealed.fileNames()).map((name) => Buffer.from(name, 'hex').toString())
      return names.filter((name) => NAME.test(name)).sort()
    },
    keep: async (name, value) => {
      refuseIfUnfit(name)
      return sealed.withLock(CHECK, async () => {
        for (let count = 1; ; count++) {
          const free = count === 1 ? name : `${name.slice(0, MAX_NAME_CHARS - 8)}-${count}`
          const entry = await sealed.read(free)
          if (!entry) await sealed.write(free, value)
          if (!entry || entry.value === value) return free
        }
      })
    },
  }
}

function refuseIfUnfit(name: string): void {
  if (!NAME.test(name)) {
    throw new McpError(
      'ERR_SECRET',
      `The name of a secret must have 1 to ${MAX_NAME_CHARS} letters, digits, dots, slashes, hyphens and underscores`,
    )
  }
}

/** Secrets by name, encrypted on the disk, with the key in the keychain or made from a passphrase. Configurations hold the names. */

import { resolve } from 'node:path'
import { openSealedFolder } from '../../auth/store/node/sealed-folder.ts'
import { DEFAULT_FILE_STORE_LIMITS, type FileStoreLimits, type Keychain } from '../../auth/store/options.ts'
import { userFolder } from '../../files/user-folder.ts'
import { McpError } from '../../protocol/errors.ts'
import { withDefaults } from '../../protocol/with-defaults.ts'

export interface VaultOptions {
  /** The default is a folder of the user. Others must not be able to look into it. */
  folder?: string
  /** The key is made from it. The default is a key in the keychain, or, where there is none, in a file beside the secrets. */
  passphrase?: string
  /** Instead of that of the system; `false` is as if there were none. */
  keychain?: Keychain | false
  limits?: Partial<FileStoreLimits>
  /** Something is not as safe as it could be. The default is a warning of the process. */
  onWarning?: (message: string) => void
}

export interface Vault {
  /** Undefined when there is none; ERR_SECRET when it is there and was altered. */
  get(name: string): Promise<string | undefined>
  set(name: string, value: string): Promise<void>
  delete(name: string): Promise<void>
  /** The names, in order. */
  list(): Promise<string[]>
  /** Keeps a value under this name, or, when another value has it, under one like it; returns the name. */
  keep(name: string, value: string): Promise<string>
}

const DEFAULT_VAULT_LIMITS: FileStoreLimits = { ...DEFAULT_FILE_STORE_LIMITS, maxEntryBytes: 64 * 1024 }

const MAX_NAME_CHARS = 100
/** What may stand in a placeholder and, as hexadecimal digits, in the name of a file on every system. */
const NAME = /^[A-Za-z0-9_][A-Za-z0-9_./-]{0,99}$/
/** No name of a secret: that it can be opened tells whether the key is the one that everything else was sealed with. */
const CHECK = 'is this the key?'

/** ERR_STORE when the passphrase, or the key in the keychain, is not the one that the secrets there were encrypted with. */
export async function openVault(options: VaultOptions = {}): Promise<Vault> {
  const folder = resolve(options.folder ?? userFolder('secrets'))
  const limits = withDefaults(DEFAULT_VAULT_LIMITS, options.limits)
  const sealed = await openSealedFolder({
    folder,
    what: 'secrets',
    suffix: '.secret',
    fileName: (name) => Buffer.from(name).toString('hex'),
    passphrase: options.passphrase,
    keychain: options.keychain,
    // One is the check.
    limits: { ...limits, maxEntries: limits.maxEntries + 1 },
    onWarning: options.onWarning ?? ((message) => process.emitWarning(message, { code: 'PORTICO_SECRETS' })),
  })
  await sealed.withLock(CHECK, async () => {
    const check = await sealed.read(CHECK)
    if (!check) return sealed.write(CHECK, '')
    // Otherwise what is written from now on could not be read with the right one.
    if (check.value === undefined) throw new McpError('ERR_STORE', `The secrets in ${folder} were encrypted with another passphrase or key`)
  })

  const get = async (name: string): Promise<string | undefined> => {
    refuseIfUnfit(name)
    const entry = await sealed.read(name)
    if (entry && entry.value === undefined) {
      throw new McpError('ERR_SECRET', `The secret ${name} cannot be decrypted: its file was altered. Set it anew`)
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
      `A secret has a name of up to ${MAX_NAME_CHARS} letters, digits, dots, slashes, hyphens and underscores`,
    )
  }
}

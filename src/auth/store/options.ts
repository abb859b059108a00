/** What may be said about where tokens are kept. */

/** The keychain of the operating system, or something that does the same. */
export interface Keychain {
  read(account: string): Promise<string | undefined>
  write(account: string, secret: string): Promise<void>
  remove(account: string): Promise<void>
}

export interface FileStoreOptions {
  /** The default is a folder of the user, where the system wants such things. Others must not be able to look into it. */
  folder?: string | undefined
  /** The key is made from it. The default is a key in the keychain, or, where there is none, in a file beside the tokens. */
  passphrase?: string | undefined
  /** Instead of that of the system; `false` is as if there were none. */
  keychain?: Keychain | false | undefined
  limits?: Partial<FileStoreLimits> | undefined
  /** Something is not as safe as it could be, or is passed over. The default is a warning of the process. */
  onWarning?: ((message: string) => void) | undefined
}

export interface KeychainStoreOptions {
  /** Instead of that of the system. */
  keychain?: Keychain | undefined
  /** For locks only, which a keychain has none of. */
  folder?: string | undefined
  limits?: Partial<Pick<FileStoreLimits, 'lockTimeoutMs' | 'lockStaleMs'>> | undefined
}

export interface FileStoreLimits {
  /** How long to wait for another process that holds the lock of a key. */
  lockTimeoutMs: number
  /** After how long without a sign of life the holder of a lock counts as gone; one whose process has ended does at once. */
  lockStaleMs: number
  /** How large one entry may be. */
  maxEntryBytes: number
  /** How many entries there may be. */
  maxEntries: number
}

export const DEFAULT_FILE_STORE_LIMITS: FileStoreLimits = {
  lockTimeoutMs: 30_000,
  lockStaleMs: 10_000,
  maxEntryBytes: 256 * 1024,
  maxEntries: 1000,
}

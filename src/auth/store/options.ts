/** Options of the stores that outlive the process. */

/** The keychain of the operating system, or a replacement for it. */
export interface Keychain {
  read(account: string): Promise<string | undefined>
  write(account: string, secret: string): Promise<void>
  remove(account: string): Promise<void>
}

/** Options for `fileTokenStore`. */
export interface FileStoreOptions {
  /** The folder of the files. It must not be readable by other users. Default: `tokens` in the data folder of the user. */
  folder?: string | undefined
  /** Derives the encryption key from this text. Default: a random key in the keychain or, without a keychain, in a file beside the tokens. */
  passphrase?: string | undefined
  /** Replaces the keychain of the system; `false` uses none. */
  keychain?: Keychain | false | undefined
  /** Limits that differ from `DEFAULT_FILE_STORE_LIMITS`. */
  limits?: Partial<FileStoreLimits> | undefined
  /** Receives warnings: a key that is poorly protected, or an entry that cannot be read. Default: `process.emitWarning`. */
  onWarning?: ((message: string) => void) | undefined
}

/** Options for `keychainTokenStore`. */
export interface KeychainStoreOptions {
  /** Replaces the keychain of the system. */
  keychain?: Keychain | undefined
  /** The folder of the lock files: a keychain has no locks. Default: as for `fileTokenStore`. */
  folder?: string | undefined
  /** Limits that differ from `DEFAULT_FILE_STORE_LIMITS`. */
  limits?: Partial<FileStoreLimits> | undefined
}

/** The limits of a store in files. */
export interface FileStoreLimits {
  /** How long to wait for a lock that another process holds. */
  lockTimeoutMs: number
}

/** The defaults of `limits`. */
export const DEFAULT_FILE_STORE_LIMITS: FileStoreLimits = { lockTimeoutMs: 30_000 }

/** The keychain of the operating system. */

import { McpError } from '../../../protocol/errors.ts'
import type { Keychain } from '../options.ts'

const SERVICE = 'portico'

/**
 * Undefined if no keychain can be used: the optional dependency is not installed, no service runs, or it is locked.
 *
 * On Linux only a Secret Service is used. The kernel keyring is emptied at every reboot, which would lose the key of the store.
 */
export async function systemKeychain(): Promise<Keychain | undefined> {
  try {
    const { AsyncEntry } = await import('@napi-rs/keyring')
    const entry = (account: string) => new AsyncEntry(SERVICE, account, { linux: { store: 'secret-service' } })
    const keychain: Keychain = {
      read: async (account) => (await entry(account).getPassword()) ?? undefined,
      write: (account, secret) => entry(account).setPassword(secret),
      remove: async (account) => void (await entry(account).deletePassword()),
    }
    await keychain.read('is there a keychain?')
    return keychain
  } catch {
    return undefined
  }
}

/** Replaces every error of a keychain by ERR_STORE, without the cause: the cause may quote a secret. */
export function withStoreErrors(keychain: Keychain): Keychain {
  const fault = (): never => {
    throw new McpError('ERR_STORE', 'The keychain failed to read or write an entry')
  }
  return {
    read: (account) => keychain.read(account).catch(fault),
    write: (account, secret) => keychain.write(account, secret).catch(fault),
    remove: (account) => keychain.remove(account).catch(fault),
  }
}

/** The keychain of the operating system, where there is one that works. */

import { McpError } from '../../../protocol/errors.ts'
import type { Keychain } from '../options.ts'

const SERVICE = 'portico'

/**
 * Undefined when there is none: the optional dependency is not installed, no service runs, or it is locked.
 *
 * On Linux only a Secret Service counts. The keyring of the kernel forgets at the next start of the machine, and whatever
 * it holds the key of would be lost with it.
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

/** Every fault of a keychain as one of ours, without the cause: that may repeat what the keychain was given. */
export function reporting(keychain: Keychain): Keychain {
  const fault = (): never => {
    throw new McpError('ERR_STORE', 'The keychain cannot be used')
  }
  return {
    read: (account) => keychain.read(account).catch(fault),
    write: (account, secret) => keychain.write(account, secret).catch(fault),
    remove: (account) => keychain.remove(account).catch(fault),
  }
}

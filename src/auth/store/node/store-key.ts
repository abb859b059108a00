/** The encryption key of a folder: derived from a passphrase, or stored in the keychain or in a file. */

import { randomBytes, scrypt } from 'node:crypto'
import { link, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { codeOf, kept, readPrivate, writePrivate } from '../../../files/private-file.ts'
import { McpError } from '../../../protocol/errors.ts'
import type { Keychain } from '../options.ts'
import { KEY_BYTES } from '../seal.ts'
import { withStoreErrors } from './keychain.ts'

type Bytes = Uint8Array<ArrayBuffer>

const SALT_BYTES = 16
/** Each guess costs 128 MiB and some tenths of a second, as the OWASP Password Storage Cheat Sheet recommends. */
const SCRYPT = { N: 2 ** 17, r: 8, p: 1, maxmem: 160 * 1024 * 1024 }

/** The salt in the folder is not secret, but without it the same passphrase gives another key. */
export async function keyFromPassphrase(folder: string, passphrase: string): Promise<Bytes> {
  if (passphrase === '') throw new McpError('ERR_STORE', 'Expected a passphrase, got an empty text')
  const salt = await readOrCreate(join(folder, 'salt'), SALT_BYTES)
  return new Promise((resolve, reject) => {
    scrypt(passphrase, salt, KEY_BYTES, SCRYPT, (error, key) => (error ? reject(error) : resolve(new Uint8Array(key))))
  })
}

/**
 * Reads the key from the keychain, or creates it there. `alone` runs a function under the lock of the folder, because a keychain
 * cannot check and write an entry in one step.
 */
export async function keyFromKeychain(ring: Keychain, account: string, alone: <T>(run: () => Promise<T>) => Promise<T>): Promise<Bytes> {
  const keychain = withStoreErrors(ring)
  const known = await keychain.read(account)
  if (known !== undefined) return decoded(known)
  return alone(async () => {
    if ((await keychain.read(account)) === undefined) await keychain.write(account, randomBytes(KEY_BYTES).toString('base64'))
    const written = await keychain.read(account)
    if (written === undefined) throw new McpError('ERR_STORE', 'The keychain lost an entry right after it was written')
    return decoded(written)
  })
}

export const keyFromFile = (file: string): Promise<Bytes> => readOrCreate(file, KEY_BYTES)

async function readOrCreate(file: string, size: number): Promise<Bytes> {
  const made = `${file}.${process.pid}.${randomBytes(6).toString('hex')}.tmp`
  let bytes = await readPrivate(file, size)
  if (bytes === undefined) {
    await writePrivate(made, randomBytes(size))
    // `link` creates the file with its whole content and never replaces one that another process created first.
    await kept(file, () => link(made, file).catch((error) => (codeOf(error) === 'EEXIST' ? undefined : Promise.reject(error)))).finally(
      () => rm(made, { force: true }).catch(() => {}),
    )
    bytes = await readPrivate(file, size)
  }
  if (bytes?.byteLength !== size)
    throw new McpError(
      'ERR_STORE',
      `Expected ${size} bytes in ${file}, got ${bytes?.byteLength ?? 0}. Remove it to start over; the stored entries are lost`,
    )
  return bytes
}

function decoded(text: string): Bytes {
  const bytes = new Uint8Array(Buffer.from(text, 'base64'))
  if (bytes.byteLength !== KEY_BYTES)
    throw new McpError('ERR_STORE', `Expected a key of ${KEY_BYTES} bytes in the keychain, got ${bytes.byteLength}`)
  return bytes
}

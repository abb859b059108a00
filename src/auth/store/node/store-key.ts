/** The key that a folder of tokens or secrets is encrypted with: from a passphrase, from the keychain, or from a file beside them. */

import { randomBytes, scrypt } from 'node:crypto'
import { link, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { codeOf, kept, readPrivate, writePrivate } from '../../../files/private-file.ts'
import { McpError } from '../../../protocol/errors.ts'
import type { Keychain } from '../options.ts'
import { KEY_BYTES } from '../seal.ts'
import { reporting } from './keychain.ts'

type Bytes = Uint8Array<ArrayBuffer>

const SALT_BYTES = 16
/** 128 MiB and some tenths of a second for each guess. @see OWASP Password Storage Cheat Sheet */
const SCRYPT = { N: 2 ** 17, r: 8, p: 1, maxmem: 160 * 1024 * 1024 }

/** The same passphrase gives the same key for as long as the salt, which is no secret, stays in the folder. */
export async function keyFromPassphrase(folder: string, passphrase: string): Promise<Bytes> {
  if (passphrase === '') throw new McpError('ERR_STORE', 'The passphrase is empty')
  const salt = await readOrMake(join(folder, 'salt'), SALT_BYTES)
  return new Promise((resolve, reject) => {
    scrypt(passphrase, salt, KEY_BYTES, SCRYPT, (error, key) => (error ? reject(error) : resolve(new Uint8Array(key))))
  })
}

/** `alone` runs something while nobody else does the same for this folder: a keychain has no "unless there is one". */
export async function keyFromKeychain(ring: Keychain, account: string, alone: <T>(run: () => Promise<T>) => Promise<T>): Promise<Bytes> {
  const keychain = reporting(ring)
  const known = await keychain.read(account)
  if (known !== undefined) return decoded(known)
  return alone(async () => {
    if ((await keychain.read(account)) === undefined) await keychain.write(account, randomBytes(KEY_BYTES).toString('base64'))
    const written = await keychain.read(account)
    if (written === undefined) throw new McpError('ERR_STORE', 'The keychain does not keep what is written to it')
    return decoded(written)
  })
}

export const keyFromFile = (file: string): Promise<Bytes> => readOrMake(file, KEY_BYTES)

async function readOrMake(file: string, size: number): Promise<Bytes> {
  const made = `${file}.${process.pid}.${randomBytes(6).toString('hex')}.tmp`
  let bytes = await readPrivate(file, size)
  if (bytes === undefined) {
    await writePrivate(made, randomBytes(size))
    // With its content or not at all, and never over one that is there: two may come first.
    await kept(file, () => link(made, file).catch((error) => (codeOf(error) === 'EEXIST' ? undefined : Promise.reject(error)))).finally(
      () => rm(made, { force: true }).catch(() => {}),
    )
    bytes = await readPrivate(file, size)
  }
  if (bytes?.byteLength !== size)
    throw new McpError('ERR_STORE', `${file} is not what it should be; remove it to start anew, without what was kept`)
  return bytes
}

function decoded(text: string): Bytes {
  const bytes = new Uint8Array(Buffer.from(text, 'base64'))
  if (bytes.byteLength !== KEY_BYTES) throw new McpError('ERR_STORE', 'What the keychain has as the key of the store is none')
  return bytes
}

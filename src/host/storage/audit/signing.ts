/** The signing key of a log. It is created on first use, stored in the folder of the log or in `keyFile`, and signs the checkpoints. */

import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, randomBytes, sign, verify } from 'node:crypto'
import { asText } from '../../../base/as-text.ts'
import { isObject } from '../../../base/json.ts'
import { readPrivate, writePrivate } from '../../../files/private-file.ts'
import { McpError } from '../../../protocol/errors.ts'
import { canonicalJson } from '../../../protocol/model/digest-json.ts'
import type { AuditRecord } from '../../model/audit-record.ts'
import { sha256 } from './chain.ts'

/** What a signature adds to a statement. */
export interface Signed {
  keyId: string
  signature: string
}

export interface LogKey {
  readonly id: string
  /** PEM, for verifying the log elsewhere. */
  readonly publicKey: string
  /** The key for the digests of arguments. */
  readonly salt: Uint8Array
  sign<Statement extends object>(statement: Statement): Statement & Signed
  check: CheckSignature
}

const MAX_KEY_FILE_BYTES = 64 * 1024

/**
 * Reads the key from the file, or creates one for a new log. An existing log can only be continued with its own key. Only one process
 * at a time may call this: otherwise two processes could create two keys.
 */
export async function openKey(file: string, begunWith: string | undefined): Promise<LogKey> {
  const kept = await readPrivate(file, MAX_KEY_FILE_BYTES)
  if (kept) {
    const key = keyFrom(file, Buffer.from(kept).toString('utf8'))
    if (begunWith === undefined || key.publicKey === begunWith) return key
    throw new McpError('ERR_AUDIT', `${file} is not the key of this audit log. Restore the key, or start another log in another folder`)
  }
  if (begunWith !== undefined)
    throw new McpError('ERR_AUDIT', `The key of the audit log is missing: ${file}. Restore it, or start another log in another folder`)
  const { privateKey } = generateKeyPairSync('ed25519', {
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  })
  const text = JSON.stringify({ privateKey, salt: randomBytes(32).toString('base64') })
  await writePrivate(file, Buffer.from(text))
  return keyFrom(file, text)
}

function keyFrom(file: string, text: string): LogKey {
  try {
    const value: unknown = JSON.parse(text)
    if (!isObject(value) || typeof value.privateKey !== 'string' || typeof value.salt !== 'string')
      throw new Error('expected privateKey and salt')
    const privateKey = createPrivateKey(value.privateKey)
    const publicKey = createPublicKey(privateKey)
    const keyId = idOf(publicKey)
    const pem = publicKey.export({ type: 'spki', format: 'pem' }).toString()
    return {
      id: keyId,
      publicKey: pem,
      check: signatureCheck(pem),
      salt: Buffer.from(value.salt, 'base64'),
      sign: (statement) => {
        const signed = { ...statement, keyId }
        return { ...signed, signature: sign(null, Buffer.from(canonicalJson(signed)), privateKey).toString('base64') }
      },
    }
  } catch (error) {
    throw new McpError('ERR_AUDIT', `${file} does not contain the key of an audit log`, { cause: error })
  }
}

/** Describes what is wrong with a signed statement, such as a checkpoint. Undefined: it is valid. */
export type CheckSignature = (statement: Signed) => string | undefined

/** A record about retired segments has a signature of its own, because records can also be in the log without a checkpoint. */
export function checkRetiredRecord(record: AuditRecord & { kind: 'retired' }, check: CheckSignature): string | undefined {
  const { seq, at, hash, ...statement } = record
  return check(statement)
}

export function signatureCheck(publicKey: string): CheckSignature {
  let key: KeyObject
  try {
    key = createPublicKey(publicKey)
  } catch (error) {
    throw new McpError('ERR_AUDIT', 'Expected the public key of the log in PEM, as the log exports it', { cause: error })
  }
  const id = idOf(key)
  return ({ signature, ...signed }) => {
    if (signed.keyId !== id) return 'it is signed with another key'
    const isGood = verify(null, Buffer.from(canonicalJson(signed)), key, Buffer.from(asText(signature), 'base64'))
    return isGood ? undefined : 'its signature does not match'
  }
}

const idOf = (key: KeyObject): string =>
  sha256(key.export({ type: 'spki', format: 'der' }))
    .toString('hex')
    .slice(0, 32)

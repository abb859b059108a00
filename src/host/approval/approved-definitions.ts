/** The approved definitions of one server, as stored. */

import { isObject } from '../../base/json.ts'
import type { FingerprintPart } from '../server-command/fingerprint.ts'
import { PINNED_KINDS, type Primitive } from './pin.ts'

export interface Baseline {
  server: string
  /** The fingerprint of the server when it was approved. */
  fingerprint: string
  parts: readonly FingerprintPart[]
  /** Undefined while only the start of the server was approved. */
  approvedAt?: number
  /** When the first offering of this fingerprint was seen. Later ones are never enabled without a question. */
  offeredAt?: number
  /** The digest of the first offering while it is taken into use. Every process that sees the same one may finish it. */
  enabling?: string
  /** Tools whose claim that they only read the person believes, with the pin of the definition that made the claim. */
  readOnly?: readonly { name: string; pin: string }[]
  /** Complete definitions, so that changes can be shown. */
  items: readonly Primitive[]
}

/** Rejects the whole file if its shape is unknown. A guess could approve something that the person did not approve. */
export function checkBaselines(value: unknown): readonly Baseline[] {
  if (!Array.isArray(value)) throw new Error('expected a list of servers')
  for (const [at, each] of value.entries()) {
    const fault = checkBaseline(each)
    if (fault !== undefined) throw new Error(`server ${at + 1}: expected ${fault}`)
  }
  return value as readonly Baseline[]
}

function checkBaseline(value: unknown): string | undefined {
  if (!isObject(value)) return 'an object'
  const { server, fingerprint, parts, approvedAt, offeredAt, enabling, readOnly, items } = value
  if (typeof server !== 'string' || typeof fingerprint !== 'string') return 'server and fingerprint: texts'
  if (approvedAt !== undefined && typeof approvedAt !== 'number') return 'approvedAt: a number'
  if (offeredAt !== undefined && typeof offeredAt !== 'number') return 'offeredAt: a number'
  if (enabling !== undefined && typeof enabling !== 'string') return 'enabling: a text'
  if (readOnly !== undefined && !(Array.isArray(readOnly) && readOnly.every(isAcceptance)))
    return 'readOnly: a list of objects with name and pin'
  if (!Array.isArray(parts) || !parts.every(isPart)) return 'parts: a list of objects with name, digest and shown'
  return Array.isArray(items) && items.every(isItem) ? undefined : 'items: a list of objects with kind, name and definition'
}

const isPart = (value: unknown): boolean =>
  isObject(value) && typeof value.name === 'string' && typeof value.digest === 'string' && typeof value.shown === 'string'

const isAcceptance = (value: unknown): boolean => isObject(value) && typeof value.name === 'string' && typeof value.pin === 'string'

const isItem = (value: unknown): boolean =>
  isObject(value) &&
  [...PINNED_KINDS].some((kind) => kind === value.kind) &&
  typeof value.name === 'string' &&
  value.definition !== undefined

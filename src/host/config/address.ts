/**
 * Resolves the origin of a server URL that contains placeholders. The person and the policy decide about an origin, so every part of
 * it must be known before the question, and must not change when the rest of the URL is filled in.
 */

import { isSecretName } from '../../base/text/redact.ts'
import { McpError } from '../../protocol/errors.ts'
import { type Placeholder, partsOf, placeholderText } from '../server-command/placeholder.ts'

/** Matches when scheme, host and port are complete, so that no later text can change them. Unusual forms count as incomplete. */
const COMPLETE = /^https?:\/\/[^\s/?#\\@]+[/?#]/i

/** Whether a placeholder after this text cannot change the origin of the URL. */
export const isOriginComplete = (before: string): boolean => COMPLETE.test(before)

export interface Address {
  /** For display and decisions. Never fill it in again: a value in it may look like a placeholder. */
  url: string
  /** Placeholders that can change scheme, user information, host or port, and have no value yet. */
  open: readonly Placeholder[]
}

/** Fills in the placeholders that affect the origin. The other placeholders stay. */
export function resolveAddress(text: string, known: (placeholder: Placeholder) => string | undefined): Address {
  const open: Placeholder[] = []
  let url = ''
  for (const part of partsOf(text)) {
    if ('literal' in part) url += part.literal
    else {
      const decides = !isOriginComplete(url)
      const value = decides ? known(part.placeholder) : undefined
      if (decides && value === undefined) open.push(part.placeholder)
      url += value ?? placeholderText(part.placeholder)
    }
  }
  return { url, open }
}

/** Describes what is wrong with the placeholders of a URL, before any value is known. Undefined: nothing is wrong. */
export function checkPlaceholders(text: string): string | undefined {
  const decisive: Placeholder[] = []
  // A placeholder at the beginning usually stands for the whole origin.
  const standIn = (placeholder: Placeholder, before: string): string => {
    if (!isOriginComplete(before)) decisive.push(placeholder)
    return before === '' && !/^[^/]*:\/\//.test(text.slice(placeholderText(placeholder).length)) ? 'https://x' : 'x'
  }
  let url = ''
  for (const part of partsOf(text)) url += 'literal' in part ? part.literal : standIn(part.placeholder, url)
  const secret = decisive.find(({ kind, name }) => kind === 'secret' || (kind === 'env' && isSecretName(name)))
  if (secret) return `\${${secret.kind}:${secret.name}} is a secret, ${ALLOWED_PLACES}`
  const [first] = decisive
  if (first && hasUserInfo(url)) return `\${${first.kind}:${first.name}} is in a URL with user information (before an @), ${ALLOWED_PLACES}`
  return undefined
}

const ALLOWED_PLACES = 'so it cannot be part of the scheme, host or port: use it in the path, the query or a header'

/**
 * The last check before connecting.
 * @throws McpError ERR_CONFIG, without the values, if the URL has a different origin than the approved one
 */
export function checkAddress(filled: string, decided: string): void {
  if (hasUserInfo(filled) || hasUserInfo(decided)) {
    throw new McpError('ERR_CONFIG', 'The server URL must not contain user information (before an @). Use an authorization header instead')
  }
  if (!URL.canParse(filled) || !URL.canParse(decided) || new URL(filled).origin !== new URL(decided).origin) {
    throw new McpError('ERR_CONFIG', 'The server URL, with all placeholders filled in, has a different origin than the approved one')
  }
}

function hasUserInfo(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { username, password } = new URL(text)
  return username !== '' || password !== ''
}

/** @throws McpError for the first placeholder without a value */
export function refuseUnresolved({ open: [first] }: Address, isSecret: (placeholder: Placeholder) => boolean): void {
  if (!first) return
  const name = `\${${first.kind}:${first.name}}`
  if (isSecret(first)) throw new McpError('ERR_CONFIG', `${name} is a secret, ${ALLOWED_PLACES}`)
  throw new McpError('ERR_SECRET', `${name} is part of the scheme, host or port of the server URL, and has no value`)
}

/**
 * Where a URL with placeholders leads. A person and the policy decide about an origin, so whatever is a part of it must be
 * known before they are asked, and must be the same when everything is filled in.
 */

import { isSecretName } from '../../base/text/redact.ts'
import { McpError } from '../../protocol/errors.ts'
import { type Placeholder, partsOf, placeholderText } from '../launch/placeholder.ts'

/** Scheme, host and port are complete: nothing that follows can change them. Anything less plain than this counts as open. */
const COMPLETE = /^https?:\/\/[^\s/?#\\@]+[/?#]/i

/** Whether a placeholder may stand behind this text without changing where the URL leads. */
export const isOriginComplete = (before: string): boolean => COMPLETE.test(before)

export interface Address {
  /** To be shown and decided about, and never to be filled in again: a value in it may look like a placeholder. */
  url: string
  /** Placeholders that can change scheme, user information, host or port, and have no value yet. */
  open: readonly Placeholder[]
}

/** Fills in what decides where the URL leads. The rest of it keeps its placeholders. */
export function addressOf(text: string, known: (placeholder: Placeholder) => string | undefined): Address {
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

/** What is wrong with the placeholders of a URL that was just read, when no value is known; undefined when nothing is. */
export function addressProblem(text: string): string | undefined {
  const decisive: Placeholder[] = []
  // One at the beginning usually stands for the whole origin.
  const standIn = (placeholder: Placeholder, before: string): string => {
    if (!isOriginComplete(before)) decisive.push(placeholder)
    return before === '' && !/^[^/]*:\/\//.test(text.slice(placeholderText(placeholder).length)) ? 'https://x' : 'x'
  }
  let url = ''
  for (const part of partsOf(text)) url += 'literal' in part ? part.literal : standIn(part.placeholder, url)
  const secret = decisive.find(({ kind, name }) => kind === 'secret' || (kind === 'env' && isSecretName(name)))
  if (secret) return `\${${secret.kind}:${secret.name}} is a secret, ${MAY_STAND}`
  const [first] = decisive
  if (first && hasUserInfo(url)) return `\${${first.kind}:${first.name}} stands beside user information (before an @), ${MAY_STAND}`
  return undefined
}

const MAY_STAND = 'and cannot be a part of where the URL leads: it may stand in the path, in the query and in headers'

/**
 * The last check before a connection.
 * @throws McpError ERR_CONFIG, without the values, when the filled in URL leads anywhere else than was decided
 */
export function checkAddress(filled: string, decided: string): void {
  if (hasUserInfo(filled) || hasUserInfo(decided)) {
    throw new McpError('ERR_CONFIG', 'The URL of the server may not hold user information (before an @); give an authorization header')
  }
  if (!URL.canParse(filled) || !URL.canParse(decided) || new URL(filled).origin !== new URL(decided).origin) {
    throw new McpError(
      'ERR_CONFIG',
      'With everything filled in, the URL of the server leads to another place than the one that was decided about',
    )
  }
}

function hasUserInfo(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { username, password } = new URL(text)
  return username !== '' || password !== ''
}

/** @throws McpError for the first placeholder that is still open */
export function refuseOpen({ open: [first] }: Address, isSecret: (placeholder: Placeholder) => boolean): void {
  if (!first) return
  const name = `\${${first.kind}:${first.name}}`
  if (isSecret(first)) throw new McpError('ERR_CONFIG', `${name} is a secret, ${MAY_STAND}`)
  throw new McpError('ERR_SECRET', `${name}, which decides where the url leads, has no value`)
}

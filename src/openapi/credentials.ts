/** Adds the credentials of an API to a request, as the security schemes of its description say. */

import { toBase64 } from '../base/bytes.ts'
import { isObject } from '../base/json.ts'
import { McpError } from '../protocol/errors.ts'
import type { Context } from '../server/index.ts'
import { type Description, decoded, type ReadOperation, type Value, wrong } from './document.ts'

/** A secret, or a function that returns the secret for a call, for example for its caller. */
export type Credential = string | ((context: Context) => string | undefined | Promise<string | undefined>)

/** Secrets by the name of their security scheme. For basic authentication: `user:password`. */
export type Credentials = Readonly<Record<string, Credential>>

export interface Scheme {
  name: string
  credential: Credential
  place: 'header' | 'query'
  key: string
  format(secret: string): string
}

/** The schemes that a request of this operation uses. Throws when none of its alternatives has credentials. */
export function schemesOf(operation: ReadOperation, description: Description, credentials: Credentials): readonly Scheme[] {
  if (operation.security.length === 0) return []
  const usable = operation.security.filter((names) => names.every((name) => Object.hasOwn(credentials, name)))
  // An alternative without schemes means that credentials are optional. They are used if they are there.
  const alternative = usable.find((names) => names.length > 0) ?? usable[0]
  if (!alternative) {
    const names = operation.security.map((each) => each.join(' and ')).join(', or ')
    throw wrong(`${operation.method} ${operation.path} needs credentials for ${names}; add them to the option "credentials"`)
  }
  return alternative.map((name) => readScheme(name, description.follow(description.securitySchemes[name]), credentials[name] as Credential))
}

/** @returns the secrets that were added, or the name of a scheme without credentials */
export async function addCredentials(
  schemes: readonly Scheme[],
  context: Context,
  url: URL,
  headers: Headers,
): Promise<{ secrets: string[] } | { lacking: string }> {
  const secrets: string[] = []
  for (const { name, credential, place, key, format } of schemes) {
    const secret = typeof credential === 'string' ? credential : await credential(context)
    if (secret === undefined || secret === '') return { lacking: name }
    secrets.push(secret)
    if (place === 'header') addHeader(headers, name, key, format(secret))
    else url.search = withKey(url.search, encodeURIComponent(key), encodeURIComponent(secret))
  }
  return { secrets }
}

function addHeader(headers: Headers, name: string, key: string, value: string): void {
  // The error of `Headers` would show the secret.
  if (/[^\t\x20-\x7e\x80-\xff]/.test(value.trim()))
    throw new McpError('ERR_DEFINITION', `The credentials for ${JSON.stringify(name)} have characters that a header cannot have`)
  const before = key === 'cookie' ? headers.get(key) : null
  headers.set(key, before === null ? value : `${before}; ${value}`)
}

/** Not through searchParams, which would encode the whole query anew. An argument cannot give another key. */
function withKey(search: string, key: string, secret: string): string {
  const others = search
    .slice(1)
    .split('&')
    .filter((each) => each !== '' && decoded(each.split('=')[0] as string) !== decoded(key))
  return [...others, `${key}=${secret}`].join('&')
}

function readScheme(name: string, scheme: unknown, credential: Credential): Scheme {
  if (!isObject(scheme)) throw wrong(`the security scheme ${JSON.stringify(name)} is not defined`)
  if (scheme.type === 'apiKey') return apiKey(name, scheme, credential)
  const isBasic = scheme.type === 'http' && String(scheme.scheme).toLowerCase() === 'basic'
  const isBearer = scheme.type === 'oauth2' || scheme.type === 'openIdConnect' || String(scheme.scheme).toLowerCase() === 'bearer'
  if (!isBasic && !isBearer) throw wrong(`the security scheme ${JSON.stringify(name)} is of a kind that is not supported`)
  const format = isBasic
    ? (secret: string) => `Basic ${toBase64(new TextEncoder().encode(secret))}`
    : (secret: string) => `Bearer ${secret}`
  return { name, credential, place: 'header', key: 'authorization', format }
}

function apiKey(name: string, { in: place, name: key }: Value, credential: Credential): Scheme {
  if (typeof key !== 'string' || (place !== 'header' && place !== 'query' && place !== 'cookie'))
    throw wrong(`the security scheme ${JSON.stringify(name)} does not say where its key belongs`)
  if (place === 'cookie')
    return { name, credential, place: 'header', key: 'cookie', format: (secret) => `${key}=${encodeURIComponent(secret)}` }
  return { name, credential, place, key, format: (secret) => secret }
}

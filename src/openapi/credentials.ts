/** Adds the credentials of an API to a request, as the security schemes of its description say. */

import { toBase64 } from '../base/bytes.ts'
import { isObject } from '../base/json.ts'
import type { Context } from '../server/index.ts'
import { type Description, type ReadOperation, type Value, wrong } from './document.ts'

/** A secret, or a function that returns the secret for a call, for example for its caller. */
export type Credential = string | ((context: Context) => string | undefined | Promise<string | undefined>)

/** Secrets by the name of their security scheme. For basic authentication: `user:password`. */
export type Credentials = Readonly<Record<string, Credential>>

interface Scheme {
  name: string
  credential: Credential
  place: 'header' | 'query'
  key: string
  format(secret: string): string
}

/** The schemes that a request of this operation uses. Throws when none of its alternatives has credentials. */
export function schemesOf(operation: ReadOperation, description: Description, credentials: Credentials): readonly Scheme[] {
  if (operation.security.length === 0) return []
  const alternative = operation.security.find((names) => names.every((name) => Object.hasOwn(credentials, name)))
  if (!alternative) {
    const names = operation.security.map((each) => each.join(' and ')).join(', or ')
    throw wrong(`${operation.method} ${operation.path} needs credentials for ${names}; add them to the option "credentials"`)
  }
  return alternative.map((name) => readScheme(name, description.follow(description.securitySchemes[name]), credentials[name] as Credential))
}

export async function addCredentials(
  schemes: readonly Scheme[],
  context: Context,
  url: URL,
  headers: Headers,
): Promise<string | undefined> {
  for (const { name, credential, place, key, format } of schemes) {
    const secret = typeof credential === 'string' ? credential : await credential(context)
    if (secret === undefined || secret === '') return name
    if (place === 'header') headers.set(key, format(secret))
    // Not through searchParams, which would encode the whole query anew.
    else url.search = `${url.search === '' ? '' : `${url.search}&`}${encodeURIComponent(key)}=${encodeURIComponent(secret)}`
  }
  return undefined
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

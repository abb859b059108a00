/** Protects a server with API keys: for callers that you know, without an authorization server. */

import { API_KEY, faultInApiKey, MAX_API_KEY_LENGTH } from '../../base/api-key.ts'
import { notices } from '../../base/notices.ts'
import { checkMembers } from '../../protocol/check-members.ts'
import { McpError } from '../../protocol/errors.ts'
import { type AuthenticatedCaller, type AuthRefusal, type HttpAuth, isScope, type RequestHead } from '../../protocol/interfaces/access.ts'
import { readCredentials } from './authorization-headers.ts'

/** The holder of an API key and the holder's rights. */
export interface KeyHolder {
  /** A stable name. Sessions and tasks belong to it, and `caller.auth.subject` contains it. */
  name: string
  /** The scopes of the holder. Default: none. */
  scopes?: readonly string[]
  /** When the key stops working. Default: never. */
  expiresAt?: Date
}

/** Options for `apiKeys`. Give `keys`, `find` or both. */
export interface ApiKeysOptions {
  /**
   * The keys by the name of their holder: the key itself (at least 16 characters), or `sha256:` and its digest in hexadecimal, so that
   * the configuration contains no secret.
   */
  keys?: Readonly<Record<string, string | (Omit<KeyHolder, 'name'> & { key: string })>>
  /** Finds the holder of a key that is stored elsewhere, by the SHA-256 digest of the key in hexadecimal. */
  find?(digest: string): KeyHolder | undefined | Promise<KeyHolder | undefined>
  /** Reads the key from this header instead of `Authorization: Bearer`, for example `x-api-key`. */
  header?: string
  /** The public host name of the endpoint. Default: only the hosts that `listen` allows. */
  host?: string
}

/**
 * Protects a server with API keys: the `auth` option of `listen` and `httpHandler`.
 *
 * @example
 * const auth = apiKeys({ keys: { ci: { key: process.env.CI_KEY ?? '', scopes: ['notes:write'] } } })
 * const { url } = await listen(server, { auth })
 * // a client: connect(url, { http: { headers: { authorization: `Bearer ${key}` } } })
 */
export function apiKeys(options: ApiKeysOptions): HttpAuth {
  checkMembers('apiKeys', options, { keys: 1, find: 1, header: 1, host: 1 })
  return new ApiKeys(options)
}

class ApiKeys implements HttpAuth {
  readonly host?: string
  readonly #header: string | undefined
  readonly #find: ApiKeysOptions['find']
  readonly #holders: Promise<ReadonlyMap<string, KeyHolder>>

  constructor({ keys = {}, find, header, host }: ApiKeysOptions) {
    if (Object.keys(keys).length === 0 && !find) throw new McpError('ERR_DEFINITION', 'apiKeys needs keys or a find function')
    if (header !== undefined && !/^[A-Za-z0-9-]+$/.test(header))
      throw new McpError('ERR_DEFINITION', `apiKeys: not the name of a header: ${JSON.stringify(header)}`)
    if (host !== undefined) this.host = host
    this.#header = header?.toLowerCase()
    this.#find = find
    const holders = Object.entries(keys).map(([name, given]) => {
      const holder = typeof given === 'string' ? { key: given } : given
      check(name, holder)
      return { name, ...holder }
    })
    const owners = new Map<string, string>()
    for (const { name, key } of holders) {
      const text = key.startsWith('sha256:') ? key.toLowerCase() : key
      checkOwner(owners.get(text), name)
      owners.set(text, name)
    }
    this.#holders = byDigest(holders)
    // A key and its digest are the same key, which only the digests show. Until this is corrected, no request is answered.
    this.#holders.catch((error: unknown) =>
      notices.write('error', `portico: no API key works: ${error instanceof Error ? error.message : error}`),
    )
  }

  async authenticate(head: RequestHead): Promise<AuthenticatedCaller | AuthRefusal> {
    const outcome = await this.#check(head)
    return 'status' in outcome ? this.#challenged(outcome) : outcome
  }

  async #check(head: RequestHead): Promise<AuthenticatedCaller | AuthRefusal> {
    const given = this.#read(head)
    if ('status' in given) return given
    const digest = await digestOf(given.key)
    const holder = (await this.#holders).get(digest) ?? (await this.#find?.(digest))
    if (!holder || !isNamed(holder)) return refusal(401, 'The API key is not known', 'invalid_token')
    const { name, expiresAt } = holder
    // A database has null for a key without scopes.
    const scopes: unknown = holder.scopes ?? []
    const wrong = !isExpiry(expiresAt) ? 'an expiresAt that is not a date' : !areScopes(scopes) ? 'scopes that are not a list' : undefined
    if (wrong !== undefined || !areScopes(scopes)) {
      notices.write('error', `portico: apiKeys: the key of ${JSON.stringify(name)} was refused: find returned ${wrong}`)
      return refusal(401, 'The API key cannot be used', 'invalid_token')
    }
    if (expiresAt && expiresAt.getTime() <= Date.now()) return refusal(401, 'The API key has expired', 'invalid_token')
    const expiry = expiresAt?.getTime() ?? Number.MAX_SAFE_INTEGER
    return {
      principal: JSON.stringify(['api key', name]),
      auth: { issuer: 'api key', subject: name, clientId: name, scopes, claims: {}, expiresAt: expiry },
    }
  }

  forbid(needed: readonly string[]): AuthRefusal {
    return this.#challenged(refusal(403, `The API key lacks a required scope: ${needed.join(' ')}`, 'insufficient_scope', needed))
  }

  /** Names the header that the key belongs in, if it is not a bearer token. */
  #challenged(refused: AuthRefusal): AuthRefusal {
    const header = this.#header
    if (header === undefined) return refused
    const challenge = refused.headers?.['www-authenticate']?.replace(/^Bearer /, `ApiKey header="${header}", `)
    return { ...refused, credentialsHeader: header, ...(challenge !== undefined && { headers: { 'www-authenticate': challenge } }) }
  }

  document(): undefined {
    return undefined
  }

  #read(head: RequestHead): { key: string } | AuthRefusal {
    if (this.#header !== undefined) {
      if (head.count(this.#header) > 1) return refusal(400, `Expected one ${this.#header} header, got several`, 'invalid_request')
      const key = head.header(this.#header)
      return key === undefined || key === '' || key.length > MAX_API_KEY_LENGTH
        ? refusal(401, `An API key is required in the header ${this.#header}`)
        : { key }
    }
    const credentials = readCredentials(head, API_KEY)
    if (credentials.kind === 'malformed') return refusal(400, credentials.message, 'invalid_request')
    if (credentials.kind === 'none' || credentials.scheme !== 'Bearer' || credentials.token.length > MAX_API_KEY_LENGTH)
      return refusal(401, 'An API key is required: Authorization: Bearer <key>')
    return { key: credentials.token }
  }
}

function check(name: string, holder: Omit<KeyHolder, 'name'> & { key: string }): void {
  const { key, scopes = [], expiresAt } = holder
  const where = `apiKeys: the key of ${JSON.stringify(name)}`
  checkMembers(where, holder, { key: 1, scopes: 1, expiresAt: 1 })
  const fail = (why: string): never => {
    throw new McpError('ERR_DEFINITION', `${where} ${why}`)
  }
  if (typeof key !== 'string' || key === '') fail('is missing; is its environment variable set?')
  const fault = faultInApiKey(key)
  if (fault !== undefined) fail(/[\r\n]$/.test(key) ? `${fault}; is there a line end in its environment variable?` : fault)
  if (!Array.isArray(scopes)) fail('has scopes that are not a list')
  const bad = scopes.find((scope) => !isScope(scope))
  if (bad !== undefined) fail(`has a scope that is not valid: ${JSON.stringify(bad)}`)
  if (!isExpiry(expiresAt)) fail('has an expiry that is not a date')
}

function checkOwner(other: string | undefined, name: string): void {
  if (other === undefined) return
  throw new McpError('ERR_DEFINITION', `apiKeys: ${JSON.stringify(other)} and ${JSON.stringify(name)} have the same key`)
}

/** A look-up by digest takes the same time however much of a key is right. */
async function byDigest(holders: readonly (KeyHolder & { key: string })[]): Promise<ReadonlyMap<string, KeyHolder>> {
  const found = new Map<string, KeyHolder>()
  for (const { key, ...holder } of holders) {
    const digest = key.startsWith('sha256:') ? key.slice('sha256:'.length).toLowerCase() : await digestOf(key)
    checkOwner(found.get(digest)?.name, holder.name)
    found.set(digest, holder)
  }
  return found
}

async function digestOf(key: string): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(key)))
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** A date that is not valid is never over, so it would make a key work for ever. A database has null for a key without expiry. */
const isExpiry = (given: unknown): given is Date | undefined =>
  given === undefined || given === null || (given instanceof Date && !Number.isNaN(given.getTime()))

/** A text has `includes`, too: with the scope `notes:write` it would seem to have `notes`. */
const areScopes = (given: unknown): given is readonly string[] => Array.isArray(given) && given.every((each) => isScope(each))

const isNamed = ({ name }: KeyHolder): boolean => typeof name === 'string' && name !== ''

function refusal(status: AuthRefusal['status'], message: string, error?: string, scopes: readonly string[] = []): AuthRefusal {
  const parts = [error !== undefined && `error="${error}"`, scopes.length > 0 && `scope="${scopes.join(' ')}"`].filter(Boolean)
  return { status, message, headers: { 'www-authenticate': `Bearer ${parts.length > 0 ? parts.join(', ') : 'realm="mcp"'}` } }
}

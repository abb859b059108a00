/** Which client we are at an authorization server, and how we prove it. */

import { importPKCS8, SignJWT } from 'jose'
import { randomId } from '../../../base/bytes.ts'
import { basicCredentials } from '../../oauth-crypto.ts'
import type { ServerMetadata } from '../discovery/server-metadata.ts'
import { authError } from '../errors.ts'

/** A client that was registered with an authorization server in advance. */
export interface RegisteredClient {
  id: string
  secret?: string
  /** Proves the identity of the client instead of a secret: a PKCS 8 key in PEM form. `algorithm` defaults to ES256. */
  privateKey?: { pem: string; algorithm?: string; keyId?: string }
  /** The authorization server that it is registered with. Default: the first one that it is used with. */
  issuer?: string
  /** The redirect address, if it is registered with only one. */
  redirectUri?: string
}

/** Adds the credentials of the client to a form request. */
export type Authenticate = (body: URLSearchParams, headers: Record<string, string>) => void | Promise<void>

/** A client together with the one authorization server that it belongs to. */
export interface ClientIdentity {
  issuer: string
  id: string
  authenticate: Authenticate
}

export interface Credentials {
  id: string
  secret?: string | undefined
  privateKey?: RegisteredClient['privateKey'] | undefined
  /** The authentication method that the authorization server chose at registration. */
  method?: string | undefined
}

/** RFC 8414: metadata without a list means client_secret_basic. Public clients authenticate with `none`. */
const DEFAULT_METHODS = ['client_secret_basic', 'none']

/** An assertion is used at once; a minute allows for clocks that differ. */
const ASSERTION_SECONDS = 60

export async function identify(metadata: ServerMetadata, credentials: Credentials): Promise<ClientIdentity> {
  return { issuer: metadata.issuer, id: credentials.id, authenticate: await authentication(metadata, credentials) }
}

async function authentication(metadata: ServerMetadata, credentials: Credentials): Promise<Authenticate> {
  const { id, secret, privateKey, method } = credentials
  const supported = metadata.tokenAuthMethods ?? DEFAULT_METHODS
  const none: Authenticate = (body) => body.set('client_id', id)
  if (privateKey) {
    if (metadata.tokenAuthMethods && !supported.includes('private_key_jwt')) throw unsupported(metadata, 'private_key_jwt')
    return privateKeyJwt(metadata.issuer, id, privateKey)
  }
  if (secret === undefined) return none
  const wanted = [method, 'client_secret_basic', 'client_secret_post', 'none'].find(
    (each) => each !== undefined && supported.includes(each),
  )
  switch (wanted) {
    case 'client_secret_basic':
      return (_body, headers) => {
        headers.authorization = basicCredentials(id, secret)
      }
    case 'client_secret_post':
      return (body) => {
        body.set('client_id', id)
        body.set('client_secret', secret)
      }
    case 'none':
      return none
    default:
      throw unsupported(metadata, 'a client secret')
  }
}

/** RFC 7523, section 2.2: each request carries a signed assertion for this issuer only. */
async function privateKeyJwt(issuer: string, id: string, key: NonNullable<RegisteredClient['privateKey']>): Promise<Authenticate> {
  const { pem, algorithm: alg = 'ES256', keyId: kid } = key
  const signingKey = await importPKCS8(pem, alg).catch(() => {
    // The original error may quote the key.
    throw authError('client', 'Expected the private key of the client in PKCS 8 PEM form, got a text that cannot be read')
  })
  return async (body) => {
    const now = Math.floor(Date.now() / 1000)
    const assertion = await new SignJWT({
      iss: id,
      sub: id,
      aud: issuer,
      jti: randomId(),
      iat: now,
      nbf: now,
      exp: now + ASSERTION_SECONDS,
    })
      .setProtectedHeader(kid === undefined ? { alg } : { alg, kid })
      .sign(signingKey)
    body.set('client_id', id)
    body.set('client_assertion_type', 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer')
    body.set('client_assertion', assertion)
  }
}

const unsupported = (metadata: ServerMetadata, what: string): Error =>
  authError(
    'client',
    `${metadata.issuer} does not accept ${what} from clients. It accepts ${metadata.tokenAuthMethods?.slice(0, 8).join(', ')}`,
  )

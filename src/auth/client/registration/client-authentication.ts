/** Who we are to an authorization server, and how that is proved to it. */

import { importPKCS8 } from 'jose'
import { type ClientAuth, ClientSecretPost, None, PrivateKeyJwt } from 'oauth4webapi'
import type { ServerMetadata } from '../discovery/server-metadata.ts'
import { authError } from '../errors.ts'

/** A client that was registered with an authorization server by other means. */
export interface RegisteredClient {
  id: string
  secret?: string
  /** Proves who the client is in the place of a secret: a PKCS 8 key in PEM form. */
  privateKey?: { pem: string; algorithm?: string; keyId?: string }
  /** Where it is registered. Unless given, it is bound to the first authorization server that it is used with. */
  issuer?: string
  /** Where logins are sent back to, if it is registered with one address only. */
  redirectUri?: string
}

/** Ready to be used at the one authorization server it belongs to. */
export interface ClientIdentity {
  issuer: string
  id: string
  authenticate: ClientAuth
}

export interface Credentials {
  id: string
  secret?: string | undefined
  privateKey?: RegisteredClient['privateKey'] | undefined
  /** What the authorization server said it wants. */
  method?: string | undefined
}

/** Undefined means nothing was said; then it is what RFC 8414 says it means, and what public clients do. */
const DEFAULT_METHODS = ['client_secret_basic', 'none']

export async function identify(metadata: ServerMetadata, credentials: Credentials): Promise<ClientIdentity> {
  return { issuer: metadata.issuer, id: credentials.id, authenticate: await authentication(metadata, credentials) }
}

async function authentication(metadata: ServerMetadata, { secret, privateKey, method }: Credentials): Promise<ClientAuth> {
  const supported = metadata.tokenAuthMethods ?? DEFAULT_METHODS
  if (privateKey) {
    if (metadata.tokenAuthMethods && !supported.includes('private_key_jwt')) throw unsupported(metadata, 'private_key_jwt')
    const key = await importPKCS8(privateKey.pem, privateKey.algorithm ?? 'ES256').catch(() => {
      // The words of the parser may quote the key.
      throw authError('client', 'The private key of the client cannot be read; it must be PKCS 8 in PEM form')
    })
    return PrivateKeyJwt(privateKey.keyId === undefined ? key : { key, kid: privateKey.keyId })
  }
  if (secret === undefined) return None()
  const wanted = [method, 'client_secret_basic', 'client_secret_post', 'none'].find(
    (each) => each !== undefined && supported.includes(each),
  )
  if (wanted === 'client_secret_basic') return secretInHeader(secret)
  if (wanted === 'client_secret_post') return ClientSecretPost(secret)
  if (wanted === 'none') return None()
  throw unsupported(metadata, 'a secret')
}

/**
 * Form-encoded and then Basic, as OAuth 2.1, section 2.4.1 has it. Letters that forms leave alone are left alone: there are
 * authorization servers that do not decode, and most names have no others.
 */
export const secretInHeader =
  (secret: string): ClientAuth =>
  (_as, { client_id: id }, _body, headers) => {
    headers.set('authorization', `Basic ${btoa(`${formEncoded(id)}:${formEncoded(secret)}`)}`)
  }

const formEncoded = (text: string): string => new URLSearchParams({ _: text }).toString().slice(2)

const unsupported = (metadata: ServerMetadata, what: string): Error =>
  authError(
    'client',
    `${metadata.issuer} does not take ${what} from clients; it takes ${metadata.tokenAuthMethods?.slice(0, 8).join(', ')}`,
  )

/**
 * Which client we are at an authorization server: the one that was registered for it, else the one that has a document
 * about itself, else one that registers itself. Whatever the way, it belongs to that one authorization server.
 *
 * @see the specification, Client Registration and Authorization Server Binding
 */

import type { TokenStore } from '../../store/token-store.ts'
import type { ServerMetadata } from '../discovery/server-metadata.ts'
import { isClientDocumentUrl } from '../discovery/urls.ts'
import { authError } from '../errors.ts'
import type { FetchContext } from '../http.ts'
import type { OAuthOptions } from '../options.ts'
import { storeKey } from '../tokens/tokens.ts'
import { type ClientIdentity, identify, type RegisteredClient } from './client-authentication.ts'
import { type Registration, readRegistration, register } from './dynamic-registration.ts'

export class ClientRegistration {
  readonly #options: OAuthOptions
  readonly #store: TokenStore
  readonly #server: URL

  constructor(options: OAuthOptions, store: TokenStore, server: URL) {
    this.#options = options
    this.#store = store
    this.#server = server
    const { clientDocument } = options
    if (clientDocument !== undefined && !isClientDocumentUrl(clientDocument)) {
      throw authError('client', 'clientDocument must be an https URL with a path, without fragment, user or dots')
    }
  }

  /** The issuers that clients are registered with. */
  get issuers(): (string | undefined)[] {
    return this.#given.map(({ issuer }) => issuer)
  }

  /** The one we are already; undefined when there would be something to do first. */
  async known(metadata: ServerMetadata): Promise<ClientIdentity | undefined> {
    const given = await this.given(metadata)
    if (given) return identify(metadata, given)
    if (this.#usesDocument(metadata)) return identify(metadata, { id: this.#options.clientDocument as string })
    const registration = await this.registration(metadata.issuer)
    return registration && identify(metadata, registration)
  }

  /** The client that was registered by other means. Throws when there is one, but for another authorization server. */
  async given({ issuer }: ServerMetadata): Promise<RegisteredClient | undefined> {
    if (this.#given.length === 0) return undefined
    const own = this.#given.find((client) => client.issuer === issuer) ?? this.#given.find((client) => client.issuer === undefined)
    if (!own) throw this.#mismatch(issuer, this.#given[0]?.issuer)
    if (own.issuer !== undefined) return own
    const key = this.#boundKey(own)
    const bound = await this.#store.get(key)
    if (bound !== undefined && bound !== issuer) throw this.#mismatch(issuer, bound)
    // Before anything is sent there: from now on it is sent nowhere else.
    if (bound === undefined) await this.#store.set(key, issuer)
    return own
  }

  /** For a login that is sent back to `redirectUri`. */
  async forLogin(metadata: ServerMetadata, redirectUri: string, exchange: FetchContext): Promise<ClientIdentity> {
    const known = await this.known(metadata)
    const registration = await this.registration(metadata.issuer)
    if (known && (known.id !== registration?.id || registration.redirectUri === redirectUri)) return known
    const made =
      metadata.registrationEndpoint === undefined
        ? await this.#asked(metadata.issuer, redirectUri)
        : await register(exchange, metadata, { redirectUri, about: this.#options.about ?? {} })
    await this.#store.set(this.#registrationKey(metadata.issuer), JSON.stringify(made))
    return identify(metadata, made)
  }

  /** By hand, when there is no other way. */
  async #asked(issuer: string, redirectUri: string): Promise<Registration> {
    const client = await this.#options.askForClient?.({ issuer, redirectUri })
    if (!client) throw authError('client', `${issuer} does not let clients register themselves; register one there and give it as client`)
    const { id, secret, privateKey } = client
    return { id, secret, privateKey, redirectUri: client.redirectUri ?? redirectUri }
  }

  async registration(issuer: string): Promise<Registration | undefined> {
    return readRegistration(await this.#store.get(this.#registrationKey(issuer)))
  }

  /** The authorization server no longer knows the client that registered itself. */
  async forget(issuer: string): Promise<void> {
    await this.#store.delete(this.#registrationKey(issuer))
  }

  #usesDocument(metadata: ServerMetadata): boolean {
    return this.#options.clientDocument !== undefined && metadata.takesClientDocuments
  }

  get #given(): readonly RegisteredClient[] {
    const { client } = this.#options
    return client === undefined ? [] : Array.isArray(client) ? client : [client as RegisteredClient]
  }

  #registrationKey(issuer: string): string {
    return storeKey('client', issuer)
  }

  #boundKey({ id }: RegisteredClient): string {
    return storeKey('bound', id, `${this.#server.origin}${this.#server.pathname}`)
  }

  #mismatch(issuer: string, registered: string | undefined): Error {
    return authError(
      'client',
      `${this.#server.origin} now has its tokens issued by ${issuer}, and the client is registered with ${registered}; register one there if that is meant`,
    )
  }
}

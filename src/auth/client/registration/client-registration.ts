/**
 * Chooses the client for an authorization server: a client that was registered in advance, else a client with a metadata
 * document, else one that registers itself. A client belongs to one authorization server and is never used with another.
 */

import { storeKey, type TokenStore } from '../../store/token-store.ts'
import type { ServerMetadata } from '../discovery/server-metadata.ts'
import { isClientDocumentUrl } from '../discovery/urls.ts'
import { authError } from '../errors.ts'
import type { FetchContext } from '../fetch-json.ts'
import { type ClientIdentity, identify, type RegisteredClient } from './client-authentication.ts'
import { type Registration, readRegistration, register } from './dynamic-registration.ts'

export interface OAuthClientOptions {
  /** A client that was registered in advance, or one for each of several authorization servers. No other client is used then. */
  client?: RegisteredClient | readonly RegisteredClient[]
  /** Called if there is no client and none can be registered automatically: a person may register one by hand. */
  askForClient?(need: ClientNeed): RegisteredClient | undefined | Promise<RegisteredClient | undefined>
  /** The https URL of the client's metadata document. It is the client id at authorization servers that support such documents. */
  clientDocument?: string
  /**
   * The name and home page of a client that registers itself. Dynamic registration is deprecated by the newest revision, and
   * may be removed from the protocol in a revision of 2027-07-28 or later: use `client` or `clientDocument` instead.
   */
  about?: { name?: string; uri?: string }
}

/** Requirements for a client that a person registers by hand. */
export interface ClientNeed {
  /** The authorization server to register it with. */
  issuer: string
  /** The redirect address to register. */
  redirectUri: string
}

/** The client of one login, before its redirect address is known. */
export interface LoginClient {
  /** The redirect address that a given client is registered with. */
  fixed: string | undefined
  /** The redirect address of an earlier registration. */
  previous: string | undefined
  /** Registers a client with `redirectUri` if there is none yet. */
  identify(redirectUri: string, http: FetchContext): Promise<ClientIdentity>
}

export class ClientRegistration {
  readonly #options: OAuthClientOptions
  readonly #store: TokenStore
  readonly #server: URL

  constructor(options: OAuthClientOptions, store: TokenStore, server: URL) {
    this.#options = options
    this.#store = store
    this.#server = server
    const { clientDocument } = options
    if (clientDocument !== undefined && !isClientDocumentUrl(clientDocument)) {
      throw authError(
        'client',
        'clientDocument must be an https URL with a path and without a fragment, a user name, or "." or ".." segments',
      )
    }
  }

  /** The issuers of the given clients. */
  get issuers(): (string | undefined)[] {
    return this.#clients.map(({ issuer }) => issuer)
  }

  /** The client that can be used without a new registration. */
  async known(metadata: ServerMetadata): Promise<ClientIdentity | undefined> {
    const ready = await this.#ready(metadata)
    if (ready) return identify(metadata, ready)
    const registration = await this.#registration(metadata.issuer)
    return registration && identify(metadata, registration)
  }

  async forLogin(metadata: ServerMetadata): Promise<LoginClient> {
    const ready = await this.#ready(metadata)
    const registration = await this.#registration(metadata.issuer)
    return {
      fixed: ready?.redirectUri,
      previous: registration?.redirectUri,
      identify: async (redirectUri, http) => {
        if (ready) return identify(metadata, ready)
        if (registration?.redirectUri === redirectUri) return identify(metadata, registration)
        return identify(metadata, await this.#register(metadata, redirectUri, http))
      },
    }
  }

  /** Removes the stored registration, because the authorization server no longer knows the client. */
  async forget(issuer: string): Promise<void> {
    await this.#store.delete(storeKey('client', issuer))
  }

  async #ready(metadata: ServerMetadata): Promise<RegisteredClient | undefined> {
    const given = await this.#given(metadata)
    if (given) return given
    const { clientDocument } = this.#options
    return clientDocument !== undefined && metadata.takesClientDocuments ? { id: clientDocument } : undefined
  }

  /** The given client for an issuer. Throws if all given clients belong to other issuers. */
  async #given({ issuer }: ServerMetadata): Promise<RegisteredClient | undefined> {
    const clients = this.#clients
    if (clients.length === 0) return undefined
    const own = clients.find((client) => client.issuer === issuer) ?? clients.find((client) => client.issuer === undefined)
    if (!own) throw this.#mismatch(issuer, clients[0]?.issuer)
    if (own.issuer !== undefined) return own
    const key = storeKey('bound', own.id, `${this.#server.origin}${this.#server.pathname}`)
    const bound = await this.#store.get(key)
    if (bound !== undefined && bound !== issuer) throw this.#mismatch(issuer, bound)
    // Stored before anything is sent: from now on the credentials go to this issuer only.
    if (bound === undefined) await this.#store.set(key, issuer)
    return own
  }

  async #registration(issuer: string): Promise<Registration | undefined> {
    return readRegistration(await this.#store.get(storeKey('client', issuer)))
  }

  async #register(metadata: ServerMetadata, redirectUri: string, http: FetchContext): Promise<Registration> {
    const registration =
      metadata.registrationEndpoint === undefined
        ? await this.#registerByHand(metadata.issuer, redirectUri)
        : await register(http, metadata, { redirectUri, about: this.#options.about ?? {} })
    await this.#store.set(storeKey('client', metadata.issuer), JSON.stringify(registration))
    return registration
  }

  async #registerByHand(issuer: string, redirectUri: string): Promise<Registration> {
    const client = await this.#options.askForClient?.({ issuer, redirectUri })
    if (!client)
      throw authError('client', `${issuer} does not support dynamic registration. Register a client there and pass it as the option client`)
    const { id, secret, privateKey } = client
    return { id, secret, privateKey, redirectUri: client.redirectUri ?? redirectUri }
  }

  get #clients(): readonly RegisteredClient[] {
    const { client } = this.#options
    return client === undefined ? [] : Array.isArray(client) ? client : [client as RegisteredClient]
  }

  #mismatch(issuer: string, registered: string | undefined): Error {
    return authError(
      'client',
      `The tokens of ${this.#server.origin} now come from ${issuer}, but the client is registered with ${registered}. If this is intended, register a client with ${issuer}`,
    )
  }
}

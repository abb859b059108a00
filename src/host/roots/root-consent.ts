/** Grants folders to servers as roots. A server has no roots until a person, or the operator's configuration, grants one. */

import type { Clock } from '../../base/clock.ts'
import { McpError } from '../../protocol/errors.ts'
import type { Root } from '../../protocol/model/roots.ts'
import type { HostedServer } from '../servers/hosted-server.ts'
import { serverRequest } from '../servers/server-request.ts'
import type { ServerServices } from '../servers/server-services.ts'
import { type RootLimits, RootRegistry } from './root-registry.ts'
import { type ValidRoot, validRoot } from './valid-root.ts'

export interface RootServices extends Pick<ServerServices, 'gate' | 'ownConversation' | 'taskOf'> {
  clock: Clock
}

export interface RootConsentOptions {
  services: RootServices
  /** Folders that the person is asked to grant to every server. */
  offered: readonly string[]
  /** Whether there is a person to ask. */
  canAsk: boolean
  /** The roots of this server changed. */
  onChange(server: string): void
  onWarning(text: string): void
  limits?: Partial<RootLimits> | undefined
}

interface GiveOptions {
  signal?: AbortSignal | undefined
  /** The person's own configuration grants them: rules apply and the action is recorded, but there is no question. */
  isConfigured?: true
}

export class RootConsent {
  readonly #options: RootConsentOptions
  readonly #granted: RootRegistry
  /** By server. The person is asked once, even if the server requests its roots several times. */
  readonly #offers = new Map<string, Promise<void>>()

  constructor(options: RootConsentOptions) {
    this.#options = options
    const { onChange, onWarning, services, limits } = options
    this.#granted = new RootRegistry({ onChange, onWarning, clock: services.clock, limits })
  }

  of(server: string): Root[] {
    return this.#granted.of(server)
  }

  /** The roots for a server that asks for them. With the first call the person is asked. A server that is not approved gets none. */
  async answer(server: HostedServer): Promise<Root[]> {
    const { id } = server
    if (server.stateOf('capabilities', 'capabilities') !== 'pinned') return []
    const offer = this.#offers.get(id) ?? this.#offer(server)
    this.#offers.set(id, offer)
    try {
      await offer
    } catch (error) {
      // After an error the next call makes the offer again. The person's answer is final.
      this.#offers.delete(id)
      throw error
    }
    return this.of(id)
  }

  /** @throws McpError ERR_CONFIG if there is no such folder, ERR_DENIED if the person denies it */
  async give(server: HostedServer, folders: readonly string[], signal?: AbortSignal): Promise<void> {
    await this.#give(server, folders, { signal })
  }

  async #give(server: HostedServer, folders: readonly string[], { signal, isConfigured }: GiveOptions): Promise<void> {
    const { services } = this.#options
    await server.identify()
    const valid = await Promise.all(folders.map((folder) => validRoot(folder)))
    const roots = valid.map(({ uri, name }) => ({ uri, name }))
    const action = serverRequest(
      services,
      server,
      'roots.expose',
      { roots: roots.map(({ uri }) => uri) },
      {
        subject: () => ({ kind: 'roots', roots }),
        initiator: 'user',
        isConfigured,
        signal,
      },
    )
    await services.gate.run(action, async () => this.#grant(server.id, valid))
  }

  take(server: string, uri: string): boolean {
    return this.#granted.revoke(server, uri)
  }

  forget(server: string): void {
    this.#granted.forget(server)
    this.#offers.delete(server)
  }

  close(): void {
    this.#granted.close()
  }

  /** The operator's configuration grants its folders without a question. The person is asked about all others. */
  async #offer(server: HostedServer): Promise<void> {
    const { offered, canAsk, onWarning } = this.#options
    const { roots = [], provenance } = server.spec
    const { ending } = server
    try {
      const isConfigured = provenance.every(({ scope }) => scope === 'ours' || scope === 'managed')
      if (roots.length > 0 && isConfigured) await this.#give(server, roots, { signal: ending, isConfigured: true })
      else if (roots.length > 0 && canAsk) await this.give(server, roots, ending)
      if (offered.length > 0 && canAsk) await this.give(server, offered, ending)
    } catch (error) {
      if (!(error instanceof McpError)) throw error
      onWarning(`${server.id} has no roots: ${error.message}`)
    }
  }

  #grant(server: string, roots: readonly ValidRoot[]): void {
    for (const root of roots) this.#granted.grant(server, root)
  }
}

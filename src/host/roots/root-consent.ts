/** Directories for servers: none until a person, or the operator in the configuration, has given them one. */

import { McpError } from '../../protocol/errors.ts'
import type { Root } from '../../protocol/model/roots.ts'
import type { HostedServer } from '../servers/hosted-server.ts'
import { serverWant } from '../servers/server-answers.ts'
import type { HostServices } from '../services/services.ts'
import { type RootLimits, RootRegistry } from './root-registry.ts'
import { type ValidRoot, validRoot } from './valid-root.ts'

export interface RootConsentOptions {
  parts: HostServices
  /** Folders that every server may be offered. */
  offered: readonly string[]
  canAsk: boolean
  /** The server is to be told. */
  onChange(server: string): void
  onWarning(text: string): void
  limits?: Partial<RootLimits>
}

interface GiveOptions {
  signal?: AbortSignal
  /** The person's own configuration gives them: it is recorded, and rules hold, but nobody is asked. */
  isConfigured?: true
}

export class RootConsent {
  readonly #options: RootConsentOptions
  readonly #granted: RootRegistry
  /** One question a server, however often it asks what its roots are. */
  readonly #offers = new Map<string, Promise<void>>()

  constructor(options: RootConsentOptions) {
    this.#options = options
    const { onChange, onWarning, parts, limits } = options
    this.#granted = new RootRegistry({ onChange, onWarning, clock: parts.clock, ...(limits && { limits }) })
  }

  of(server: string): Root[] {
    return this.#granted.of(server)
  }

  /** What a server is told that asks. The first time, the person is asked first. One that nobody has approved is told of nothing. */
  async answer(server: HostedServer): Promise<Root[]> {
    const { id } = server
    if (server.stateOf('capabilities', 'capabilities') !== 'pinned') return []
    const offer = this.#offers.get(id) ?? this.#offer(server)
    this.#offers.set(id, offer)
    try {
      await offer
    } catch (error) {
      // What broke on this side is tried again when it asks again; what the person said is not.
      this.#offers.delete(id)
      throw error
    }
    return this.of(id)
  }

  /** @throws McpError ERR_CONFIG for what is no folder, ERR_DENIED when the person says no */
  async give(server: HostedServer, folders: readonly string[], signal?: AbortSignal): Promise<void> {
    await this.#give(server, folders, { ...(signal && { signal }) })
  }

  async #give(server: HostedServer, folders: readonly string[], { signal, isConfigured }: GiveOptions): Promise<void> {
    const { parts } = this.#options
    await server.identify()
    const valid = await Promise.all(folders.map((folder) => validRoot(folder)))
    const roots = valid.map(({ uri, name }) => ({ uri, name }))
    const want = serverWant(
      parts,
      server,
      'roots.expose',
      { roots: roots.map(({ uri }) => uri) },
      {
        subject: () => ({ kind: 'roots', roots }),
        initiator: 'user',
        ...(isConfigured && { isConfigured }),
        ...(signal && { signal }),
      },
    )
    await parts.gate.run(want, async () => this.#grant(server.id, valid))
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

  /** What the operator wrote down for this server is theirs to give; what is for all servers a person gives to each. */
  async #offer(server: HostedServer): Promise<void> {
    const { offered, canAsk, onWarning } = this.#options
    const { roots = [], provenance } = server.spec
    const { ending } = server.supervised
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

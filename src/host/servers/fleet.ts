/** All configured servers of a host. A server that fails or hangs does not delay the others or the start. */

import { isDeepStrictEqual } from 'node:util'
import { type Clock, systemClock } from '../../base/clock.ts'
import { McpError } from '../../protocol/errors.ts'
import { withDefaults } from '../../protocol/with-defaults.ts'
import type { ServerSpec } from '../model/server-spec.ts'

/** Not an option: each server is a process or a connection, and a person cannot oversee more. Tests make it small. */
export interface FleetLimits {
  /** Servers in one configuration. */
  maxServers: number
}

export const FIXED_FLEET_LIMITS: FleetLimits = { maxServers: 256 }

export interface FleetServer {
  readonly id: string
  readonly spec: ServerSpec
  /** Connects in the background. */
  start(): void
  /** Resolves when the server is ready or has failed. */
  settled(): Promise<void>
  close(): Promise<void>
}

export interface FleetOptions<Server extends FleetServer> {
  /** Makes a server. The fleet starts it. */
  supervise(spec: ServerSpec): Server
  /** Called when servers were added, removed or replaced. */
  onConfigured?(ids: readonly string[]): void
  limits?: Partial<FleetLimits>
  clock?: Clock
}

export class Fleet<Server extends FleetServer> {
  readonly #options: FleetOptions<Server>
  readonly #limits: FleetLimits
  readonly #clock: Clock
  readonly #servers = new Map<string, Server>()
  /** Servers that are closing, by id. The next server with that id starts after them. */
  readonly #endings = new Map<string, Promise<void>>()
  #isClosed = false

  constructor(options: FleetOptions<Server>) {
    this.#options = options
    this.#limits = withDefaults(FIXED_FLEET_LIMITS, options.limits)
    this.#clock = options.clock ?? systemClock
  }

  /**
   * Replaces the configuration: starts new servers in the background, closes removed ones, and restarts those with a
   * different specification. Resolves when all closed servers have ended.
   */
  async configure(specs: readonly ServerSpec[]): Promise<void> {
    if (this.#isClosed) throw new McpError('ERR_CLOSED', 'The host is closed')
    const { maxServers } = this.#limits
    if (specs.length > maxServers)
      throw new McpError('ERR_LIMIT', `${specs.length} servers are configured, more than ${maxServers} (maxServers)`)
    const wanted = new Map(specs.map((spec) => [spec.id, spec]))
    if (wanted.size < specs.length) throw new McpError('ERR_CONFIG', `Two servers have the id ${JSON.stringify(doubledIn(specs))}`)
    const ended = [...this.#servers.values()].filter(({ id, spec }) => !isSameSpec(wanted.get(id), spec))
    for (const server of ended) this.#end(server)
    const begun = specs.filter(({ id }) => !this.#servers.has(id))
    for (const spec of begun) this.#begin(spec)
    if (ended.length > 0 || begun.length > 0) this.#options.onConfigured?.(this.ids())
    await Promise.all(this.#endings.values())
  }

  /** @throws McpError ERR_SERVER_UNKNOWN */
  get(id: string): Server {
    const server = this.#servers.get(id)
    if (!server)
      throw new McpError(
        'ERR_SERVER_UNKNOWN',
        `No server ${JSON.stringify(id)} is configured; there are: ${this.ids().join(', ') || 'none'}`,
      )
    return server
  }

  find(id: string): Server | undefined {
    return this.#servers.get(id)
  }

  ids(): string[] {
    return [...this.#servers.keys()].sort()
  }

  all(): Server[] {
    return this.ids().map((id) => this.get(id))
  }

  /** Resolves when every server is ready or has failed, or after the time. */
  async settled(timeoutMs: number): Promise<void> {
    let late = (): void => {}
    const timer = this.#clock.after(timeoutMs, () => late())
    timer.hold(true)
    const timeout = new Promise<void>((resolve) => {
      late = resolve
    })
    try {
      // A replaced server starts after the former one has ended.
      const settled = Promise.all(this.#endings.values()).then(() => Promise.all(this.all().map((server) => server.settled())))
      await Promise.race([settled, timeout])
    } finally {
      timer.cancel()
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    for (const server of [...this.#servers.values()]) this.#end(server)
    await Promise.all(this.#endings.values())
  }

  #begin(spec: ServerSpec): void {
    const server = this.#options.supervise(spec)
    this.#servers.set(spec.id, server)
    const ending = this.#endings.get(spec.id)
    if (ending) void ending.then(() => server.start())
    else server.start()
  }

  #end(server: Server): void {
    const { id } = server
    this.#servers.delete(id)
    const ending: Promise<void> = Promise.all([this.#endings.get(id), server.close()]).then(() => {
      if (this.#endings.get(id) === ending) this.#endings.delete(id)
    })
    this.#endings.set(id, ending)
  }
}

/** Members without a value make no difference: readers of files set them, other code leaves them out. */
const isSameSpec = (one: ServerSpec | undefined, other: ServerSpec): boolean =>
  one !== undefined && isDeepStrictEqual(withoutUndefined(one), withoutUndefined(other))

const withoutUndefined = ({ transport, ...spec }: ServerSpec): object => ({ ...definedOf(spec), transport: definedOf(transport) })

const definedOf = (members: object): object => Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined))

function doubledIn(specs: readonly ServerSpec[]): string | undefined {
  const seen = new Set<string>()
  return specs.find(({ id }) => seen.size === seen.add(id).size)?.id
}

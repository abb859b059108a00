/** All configured servers. Each stands for itself: one that is dead or hangs holds up no other, and not the start. */

import { isDeepStrictEqual } from 'node:util'
import { type Clock, systemClock } from '../../base/clock.ts'
import { McpError } from '../../protocol/errors.ts'
import { withDefaults } from '../../protocol/with-defaults.ts'
import type { Health } from '../model/health.ts'
import type { ServerSpec } from '../model/server-spec.ts'
import type { SupervisedServer } from './supervised.ts'

export interface FleetLimits {
  /** Servers in one configuration. */
  maxServers: number
}

export const DEFAULT_FLEET_LIMITS: FleetLimits = { maxServers: 256 }

/** What looks after one server: a supervised server, or what somebody has put around one. */
export type Tended = Pick<SupervisedServer, 'id' | 'spec' | 'health' | 'start' | 'settled' | 'close'>

export interface FleetOptions<Server extends Tended = SupervisedServer> {
  /** Makes what looks after one server. It is started by the fleet. */
  supervise(spec: ServerSpec): Server
  limits?: Partial<FleetLimits>
  clock?: Clock
}

export class Fleet<Server extends Tended = SupervisedServer> {
  readonly #options: FleetOptions<Server>
  readonly #limits: FleetLimits
  readonly #clock: Clock
  readonly #servers = new Map<string, Server>()
  /** Servers that are ending, by id: another of that id starts after them. */
  readonly #endings = new Map<string, Promise<void>>()
  #isClosed = false

  constructor(options: FleetOptions<Server>) {
    this.#options = options
    this.#limits = withDefaults(DEFAULT_FLEET_LIMITS, options.limits)
    this.#clock = options.clock ?? systemClock
  }

  /**
   * Makes these the servers there are: starts what is new in the background, ends what is gone, and ends and starts what
   * is configured otherwise. What stayed the same is not touched. Resolves when all that had to end has ended.
   */
  async configure(specs: readonly ServerSpec[]): Promise<void> {
    if (this.#isClosed) throw new McpError('ERR_CLOSED', 'The host is closed')
    const { maxServers } = this.#limits
    if (specs.length > maxServers)
      throw new McpError('ERR_LIMIT', `${specs.length} servers are configured, more than ${maxServers} (maxServers)`)
    const wanted = new Map(specs.map((spec) => [spec.id, spec]))
    if (wanted.size < specs.length) throw new McpError('ERR_CONFIG', `Two servers have the id ${JSON.stringify(doubledIn(specs))}`)
    for (const [id, server] of this.#servers) {
      const spec = wanted.get(id)
      if (!spec || !isDeepStrictEqual(spec, server.spec)) this.#end(server)
    }
    for (const spec of specs) if (!this.#servers.has(spec.id)) this.#begin(spec)
    await Promise.all(this.#endings.values())
  }

  /** ERR_SERVER_UNKNOWN when none of that id is configured. */
  get(id: string): Server {
    const server = this.#servers.get(id)
    if (!server)
      throw new McpError(
        'ERR_SERVER_UNKNOWN',
        `No server ${JSON.stringify(id)} is configured; there are: ${this.ids().join(', ') || 'none'}`,
      )
    return server
  }

  has(id: string): boolean {
    return this.#servers.has(id)
  }

  ids(): string[] {
    return [...this.#servers.keys()].sort()
  }

  all(): Server[] {
    return this.ids().map((id) => this.get(id))
  }

  health(): Record<string, Health> {
    return Object.fromEntries(this.all().map((server) => [server.id, server.health]))
  }

  /** Resolves when it is clear of each server how it is, or when the time is over. */
  async settled(timeoutMs: number): Promise<void> {
    let late = (): void => {}
    const timer = this.#clock.after(timeoutMs, () => late())
    timer.hold(true)
    const timeout = new Promise<void>((resolve) => {
      late = resolve
    })
    try {
      // One that takes the place of another is not started before that has ended.
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

function doubledIn(specs: readonly ServerSpec[]): string | undefined {
  const seen = new Set<string>()
  return specs.find(({ id }) => seen.size === seen.add(id).size)?.id
}

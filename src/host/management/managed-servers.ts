/** The part of a host that manages its servers: configuring, enabling and approving them, their roots and their logins. */

import type { LogLevel } from '../../protocol/model/logging.ts'
import { acceptReadOnly, type ReadOnlyTool, readOnlyTools } from '../approval/read-only.ts'
import type { CheckupOptions, CheckupReport } from '../doctor/check-server.ts'
import type { Health } from '../model/health.ts'
import type { Review } from '../model/review.ts'
import type { ServerSpec } from '../model/server-spec.ts'
import type { ServerConnection } from '../model/traffic.ts'
import type { BudgetLeft } from '../sampling/budget.ts'
import type { DirectConnection } from '../servers/hosted-server.ts'
import type { HostServices } from '../setup/host-services.ts'
import { type EnableOptions, type EnableOutcome, enableServer, enableServers } from './enable-server.ts'
import { replaceServers } from './replace-servers.ts'

/** Options for `approve`. */
interface ApproveOptions {
  /** Asks about these definitions only: their kinds and names, such as `tool add`. Default: all that wait. */
  items?: readonly string[]
  signal?: AbortSignal
}

export class ManagedServers {
  readonly #services: HostServices

  constructor(services: HostServices) {
    this.#services = services
  }

  /**
   * The specifications of all configured servers.
   * @example
   * const names = host.specs().map(({ id }) => id)
   */
  specs(): ServerSpec[] {
    return this.#services.fleet.all().map(({ spec }) => spec)
  }

  /**
   * The state of each server, by name.
   * @example
   * if (host.health().notes?.state === 'refused') await host.retry('notes')
   */
  health(): Record<string, Health> {
    return Object.fromEntries(this.#services.fleet.all().map(({ id, health }) => [id, health]))
  }

  /**
   * Replaces the configured servers. A server with the same specification as before keeps its connection.
   * @example
   * await host.configure(host.specs().filter(({ id }) => id !== 'notes'))
   */
  configure(specs: readonly ServerSpec[]): Promise<void> {
    return replaceServers(this.#services, specs)
  }

  /**
   * Resolves when every server is ready, has failed or waits to be enabled, and no review is open; or after the time.
   * @example
   * await host.settled(10_000)
   */
  async settled(timeoutMs = 30_000): Promise<void> {
    await this.#services.fleet.settled(timeoutMs)
    await this.#services.reviews.settled()
  }

  /**
   * Tries a server that failed or was refused again, and asks again about definitions that were not approved.
   * @example
   * const { state } = await host.retry('notes')
   */
  async retry(server: string): Promise<Health> {
    const { fleet, reviews } = this.#services
    await fleet.get(server).retry()
    const current = fleet.get(server)
    const { health } = current
    if (health.state === 'ready' && reviews.review(current)) await reviews.ask(current)
    return health
  }

  /**
   * Ends a server and starts it again. Resolves with the outcome.
   * @example
   * const { state } = await host.restart('notes')
   */
  restart(server: string): Promise<Health> {
    return this.#services.fleet.get(server).restart()
  }

  /**
   * What a server said in the handshake, and how it is connected. Undefined while it is not.
   * @example
   * console.log(host.connection('notes')?.revision)
   */
  connection(server: string): ServerConnection | undefined {
    return this.#services.fleet.get(server).connection
  }

  /**
   * Real paths of the programs and files that the command of a server names. Empty before its first start, and for other servers.
   * @example
   * const files = host.filesOf('notes')
   */
  filesOf(server: string): readonly string[] {
    return this.#services.fleet.get(server).files
  }

  /**
   * Sends a ping to a connected server. Resolves with the milliseconds until its answer. Revisions without ping use `server/discover`.
   * @throws McpError ERR_SERVER_DOWN while it is not connected
   * @example
   * console.log(`${await host.ping('notes')} ms`)
   */
  ping(server: string, options: { signal?: AbortSignal } = {}): Promise<number> {
    return this.#services.fleet.get(server).ping(options.signal)
  }

  /**
   * Sets the lowest level that a server logs, until the host is closed. Default: info.
   * @throws McpError ERR_SERVER_DOWN while it is not connected, ERR_CAPABILITY_MISSING if it does not declare logging
   * @example
   * await host.setLogLevel('notes', 'debug')
   */
  setLogLevel(server: string, level: LogLevel): Promise<void> {
    return this.#services.fleet.get(server).setLogLevel(level)
  }

  /**
   * Starts a server now. Asks the person if they have not agreed to it yet, also after a No. Resolves when its offering is in use.
   * @throws McpError ERR_DENIED if the person says no, ERR_CONSENT if there is no one to ask, ERR_SERVER_DOWN if it does not start
   * @example
   * await host.enable('files')
   */
  enable(server: string, options: EnableOptions = {}): Promise<void> {
    return enableServer(this.#services, server, options)
  }

  /**
   * Starts several servers. An asker with `askTogether` gets the questions about them at once; each server has its own answer.
   * Resolves with one outcome for each server: a server that fails does not affect the others.
   * @throws McpError ERR_SERVER_UNKNOWN
   * @example
   * const failed = (await host.enableAll(['files', 'notes'])).filter(({ error }) => error)
   */
  enableAll(servers: readonly string[], options: { signal?: AbortSignal } = {}): Promise<EnableOutcome[]> {
    return enableServers(this.#services, servers, options.signal)
  }

  /**
   * The part of a server's offering that waits for approval. Undefined if everything is approved.
   * @example
   * for (const { name, flags } of host.review('notes')?.items ?? []) console.log(name, flags)
   */
  review(server: string): Review | undefined {
    return this.#services.reviews.review(this.#services.fleet.get(server))
  }

  /**
   * Approved definitions that a server does not offer now, such as `tool search`. They keep their approval.
   * @example
   * for (const name of host.notOffered('notes')) console.log(name)
   */
  notOffered(server: string): string[] {
    return this.#services.reviews.notOffered(this.#services.fleet.get(server))
  }

  /**
   * Asks the person to approve the offering of a server, or a part of it.
   * @throws McpError ERR_DENIED
   * @example
   * await host.approve('notes')
   * await host.approve('docs', { items: ['skill skill://refunds/SKILL.md'] })
   */
  async approve(server: string, options: ApproveOptions = {}): Promise<void> {
    await this.#services.reviews.ask(this.#services.fleet.get(server), options)
  }

  /**
   * Takes the approval of a skill back: no model can load it until the person approves it again.
   * @example
   * await host.revokeSkill('docs', 'skill://refunds/SKILL.md')
   */
  async revokeSkill(server: string, uri: string): Promise<void> {
    const { fleet, pins } = this.#services
    await pins.withdraw(fleet.get(server).id, [{ kind: 'skill', name: uri }])
  }

  /**
   * The approved tools of a server that claim to only read, and which of them the person accepted as read-only.
   * @example
   * const open = host.readOnlyTools('files').filter(({ isAccepted }) => !isAccepted)
   */
  readOnlyTools(server: string): ReadOnlyTool[] {
    return readOnlyTools(this.#services.pins, server)
  }

  /**
   * Stores that the person believes the claim of these tools that they only read, or with `isRevoked` no longer does. It holds until the
   * definition of the tool or the server changes. What it allows depends on the preset of the policy.
   * @throws McpError ERR_CONFIG for a tool that is not approved, or does not claim to only read
   * @example
   * await host.acceptReadOnly('files', ['read', 'list'])
   */
  async acceptReadOnly(server: string, tools: readonly string[], { isRevoked = false }: { isRevoked?: boolean } = {}): Promise<void> {
    await acceptReadOnly(this.#services, server, tools, isRevoked)
  }

  /**
   * Asks the person to grant a server a folder as a root.
   * @example
   * await host.giveRoot('files', '/home/me/project')
   */
  async giveRoot(server: string, folder: string, options: { signal?: AbortSignal } = {}): Promise<void> {
    return this.#services.roots.give(this.#services.fleet.get(server), [folder], options.signal)
  }

  /**
   * Revokes a root. Returns false if the server does not have it.
   * @example
   * host.takeRoot('files', 'file:///home/me/project')
   */
  takeRoot(server: string, uri: string): boolean {
    return this.#services.roots.take(server, uri)
  }

  /**
   * The roots that the person granted to a server.
   * @example
   * const uris = host.rootsOf('files').map(({ uri }) => uri)
   */
  rootsOf(server: string): { uri: string; name?: string }[] {
    return this.#services.roots.of(server)
  }

  /**
   * The rest of the sampling budget of a server.
   * @example
   * const { tokensLeft } = await host.budgetLeft('notes')
   */
  budgetLeft(server: string): Promise<BudgetLeft> {
    return this.#services.broker.budgetLeft(server)
  }

  /**
   * Asks to start or connect to a server, as the host does before it connects, and returns what a connection of your own needs, for
   * tools that examine a server. No gate decides about what you send over that connection.
   * @throws McpError ERR_DENIED, ERR_CONSENT, ERR_QUARANTINED, ERR_SECRET, ERR_CONFIG
   * @example
   * const { transport } = await host.permitDirect('notes')
   */
  async permitDirect(server: string, options: { signal?: AbortSignal } = {}): Promise<DirectConnection> {
    return this.#services.fleet.get(server).permitDirect(options.signal ?? new AbortController().signal)
  }

  /**
   * Examines a server step by step over a connection of its own, and finds the step that fails. Asks before it starts the server.
   * @throws McpError ERR_DENIED, ERR_CONSENT, ERR_QUARANTINED, ERR_SECRET, ERR_CONFIG
   * @example
   * const { isHealthy, findings } = await host.checkup('notes')
   */
  async checkup(server: string, options: CheckupOptions = {}): Promise<CheckupReport> {
    const { checkDirect } = await import('../doctor/check-server.ts')
    return checkDirect(await this.permitDirect(server, options), options)
  }

  /**
   * Logs in to a server over HTTP.
   * @example
   * await host.login('calendar')
   */
  async login(server: string, options: { signal?: AbortSignal } = {}): Promise<void> {
    await this.#services.logins.login(this.#services.fleet.get(server).spec, options.signal)
  }

  /**
   * Whether the requests to a server carry the tokens of a login.
   * @example
   * if (host.isLoggedIn('calendar')) await host.logout('calendar')
   */
  isLoggedIn(server: string): boolean {
    return this.#services.logins.isLoggedIn(this.#services.fleet.get(server).id)
  }

  /**
   * Revokes and deletes the tokens of a server, and ends its connection.
   * @example
   * await host.logout('calendar')
   */
  async logout(server: string, options: { signal?: AbortSignal } = {}): Promise<void> {
    const hosted = this.#services.fleet.get(server)
    await this.#services.logins.logout(hosted.spec, options.signal)
    hosted.endLoggedOut()
  }
}

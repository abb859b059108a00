/** One server of a host: its identity, the approval state of its offering, and its supervised connection. */

import type { Client } from '../../client/client.ts'
import { McpError } from '../../protocol/errors.ts'
import type { Authorizer } from '../../protocol/interfaces/authorizer.ts'
import type { LogLevel } from '../../protocol/model/logging.ts'
import type { Skill } from '../../protocol/model/skills.ts'
import type { ToolAnnotations } from '../../protocol/model/tools.ts'
import { FileCache } from '../../skills/file-cache.ts'
import { isInSkill } from '../../skills/skill-uri.ts'
import { keyOf } from '../approval/comparison.ts'
import { PINNED_KINDS, type Primitive, pinOf, primitivesOf } from '../approval/pin.ts'
import type { ReviewedServer } from '../approval/reviewed-server.ts'
import type { Conversation } from '../conversation/chat/conversation.ts'
import type { ActionPrimitive, ActionServer, PinState } from '../model/action.ts'
import type { Health } from '../model/health.ts'
import type { Offering, PrimitiveKind } from '../model/offering.ts'
import type { Question } from '../model/question.ts'
import type { ServerSpec } from '../model/server-spec.ts'
import type { ServerConnection } from '../model/traffic.ts'
import { redactError, redactHealth, redactOffering, redactValue } from '../secrets/redact-output.ts'
import type { PermittedTransport } from './connect-server.ts'
import { ServerStart, whereOf } from './prepare-transport.ts'
import type { ServerServices } from './server-services.ts'
import { SupervisedServer } from './supervised.ts'
import type { SupervisedOptions } from './supervised-options.ts'

export interface HostedServerOptions {
  spec: ServerSpec
  services: ServerServices
  auth: Authorizer | undefined
  supervision: Pick<
    SupervisedOptions,
    'answers' | 'info' | 'telemetry' | 'limits' | 'clientLimits' | 'clock' | 'onHealth' | 'onLog' | 'onWarning' | 'traffic'
  >
  /** Called each time the server's offering has been read. */
  onOffering(server: HostedServer, offering: Offering): void
  /** Asks the person for an input of the configuration. Undefined if they give none. */
  input(server: HostedServer, id: string, signal: AbortSignal): Promise<string | undefined>
  /** The program or the address differs from the last start: grants for the former server do not apply to this one. */
  onOther(server: HostedServer): void
  /** Real paths of the folders that the server was granted as roots. */
  roots(): readonly string[]
}

/** How to connect to a server without the host in between. It contains secrets: use it once and do not store it. */
export interface DirectConnection {
  transport: PermittedTransport
  /** Sends the tokens of the host, and logs in. Undefined if the server has no URL, or its configuration sets the authorization. */
  authorize?: Authorizer
  /** The revisions and the HTTP transport of its configuration. */
  protocol: Pick<ServerSpec, 'revisions' | 'httpTransport'>
  /** Removes the secrets of the server from text that is shown or stored. */
  scrub(text: string): string
}

/** How long a ping by hand may take. */
const PING_TIMEOUT_MS = 10_000

export class HostedServer implements ReviewedServer {
  readonly spec: ServerSpec
  readonly #services: ServerServices
  readonly #start: ServerStart
  readonly #roots: () => readonly string[]
  readonly #auth: Authorizer | undefined
  readonly #supervised: SupervisedServer
  /** The current definitions, by kind and name. */
  #definitions: ReadonlyMap<string, Primitive> = new Map()
  #isChoosing = false
  /** The conversations with calls under way at this server, and how many. */
  readonly #conversations = new Map<Conversation, number>()
  /** Verified files of skills, in memory only: they end with the server. */
  readonly skillFiles = new FileCache()

  constructor(options: HostedServerOptions) {
    const { spec, auth, services, supervision } = options
    this.spec = spec
    this.#services = services
    this.#roots = options.roots
    this.#auth = auth
    this.#start = new ServerStart({
      spec,
      services,
      facts: () => this.facts,
      shown: () => this.shown,
      input: (id, signal) => options.input(this, id, signal),
      onOther: () => {
        this.#supervised.forgetSubscriptions()
        options.onOther(this)
      },
    })
    this.#supervised = new SupervisedServer({
      ...supervision,
      spec,
      ...(auth && { auth }),
      permit: (signal) => this.#start.permit(signal),
      mayStart: () => this.#start.mayStart(),
      isAsPermitted: () => this.#start.isAsPermitted(),
      onItem: pinOf,
      clean: (offering) => redactOffering(offering, services.redactor, supervision.onWarning),
      onListing: ({ offering }) => {
        this.#definitions = new Map(primitivesOf(offering).map((primitive) => [keyOf(primitive), primitive]))
        options.onOffering(this, offering)
      },
    })
  }

  /** The person changed the choice of revisions since the host was started. */
  hasNewRevisions = false

  get id(): string {
    return this.spec.id
  }

  get health(): Health {
    return redactHealth(this.#supervised.health, this.#services.redactor)
  }

  /** How the server is connected, without secrets. Undefined while it is not. */
  get connection(): ServerConnection | undefined {
    const { connection } = this.#supervised
    const { transport } = this.spec
    const url = transport.type === 'http' && URL.canParse(transport.url) ? new URL(transport.url) : undefined
    return connection && redactValue({ ...connection, ...(url && { url: `${url.origin}${url.pathname}` }) }, this.#services.redactor)
  }

  get offering(): Offering | undefined {
    return this.#supervised.listing?.offering
  }

  /** The skills of the offering, approved or not. */
  get skills(): readonly Skill[] {
    return this.offering?.skills ?? []
  }

  /** The skill that a file belongs to: an approved one that lists it, or else the innermost. Undefined for other resources. */
  skillWith(uri: string): Skill | undefined {
    const around = this.skills.filter((skill) => isInSkill(skill.uri, uri))
    const isUsable = ({ uri: name, resources }: Skill): boolean =>
      resources !== 'dynamic' && resources.some((file) => file.uri === uri) && this.stateOf('skill', name) === 'pinned'
    return around.find(isUsable) ?? around.sort((a, b) => b.uri.length - a.uri.length)[0]
  }

  /** Takes a skill into the offering that the server need not list. The person is asked about it like about the others. */
  async includeSkill(uri: string, signal?: AbortSignal): Promise<void> {
    try {
      await this.#supervised.includeSkill(uri, signal)
    } catch (error) {
      throw redactError(error, this.#services.redactor)
    }
  }

  get chosenRevision(): string | undefined {
    return this.spec.revisions || this.hasNewRevisions ? this.#supervised.connection?.revision : undefined
  }

  get isListedWhole(): boolean {
    return this.#supervised.listing?.isStale === false
  }

  get ending(): AbortSignal {
    return this.#supervised.ending
  }

  /** The server as questions show it. */
  get shown(): Question['server'] {
    const { info } = this.offering ?? {}
    return { id: this.id, title: this.spec.title ?? info?.title ?? info?.name ?? this.id, where: whereOf(this.spec.transport) }
  }

  get facts(): ActionServer {
    const { id, tier, labels = [], provenance } = this.spec
    // A closed server is no longer in the configuration.
    const isKnown = this.#supervised.health.state !== 'closed'
    const roots = this.#roots()
    return {
      id,
      fingerprint: this.#start.fingerprint ?? 'not started yet',
      tier,
      isKnown,
      // The first one is the source of the command or address.
      ...(provenance[0]?.scope === 'project' && { isOfProject: true }),
      labels,
      ...(roots.length > 0 && { roots }),
    }
  }

  /** The definition as the server lists it now. */
  definition(kind: PrimitiveKind, name: string): unknown {
    return this.#definitions.get(keyOf({ kind, name }))?.definition
  }

  primitive(kind: PrimitiveKind, name: string): ActionPrimitive {
    const definition = this.definition(kind, name)
    const isAccepted = kind === 'tool' && this.#services.pins.isReadOnly(this.facts, name, definition)
    return {
      kind,
      name,
      pin: definition === undefined ? undefined : pinOf(definition),
      state: this.stateOf(kind, name),
      ...(isAccepted && { isAcceptedReadOnly: true }),
    }
  }

  stateOf(kind: PrimitiveKind, name: string): PinState {
    const definition = this.definition(kind, name)
    // A definition that the server no longer offers does not match its pin.
    if (definition === undefined && PINNED_KINDS.has(kind)) return 'changed'
    return this.#services.pins.stateOf(this.facts, kind, name, definition)
  }

  /**
   * Checks the pin right before something is sent: a different process may have withdrawn the approval, or the server may have changed.
   * @param expected the pin of the definition that the caller goes on with. Default: it reads the definition later
   * @throws McpError ERR_QUARANTINED
   */
  async checkPinned({ kind, name }: Pick<ActionPrimitive, 'kind' | 'name'>, expected?: string): Promise<void> {
    const { pins } = this.#services
    await pins.refresh()
    pins.check(this.facts, kind, name, this.definition(kind, name))
    if (expected !== undefined && this.primitive(kind, name).pin !== expected)
      throw new McpError('ERR_QUARANTINED', `The ${kind} ${JSON.stringify(name)} of ${this.id} changed while it was read. Try again`)
  }

  /** The operator's hints for a tool, and what the person accepted. Hints for its name override the hints for `*`. */
  asserted(tool: string): ToolAnnotations {
    const { asserted = {} } = this.spec
    const isAccepted = this.#services.pins.isReadOnly(this.facts, tool, this.definition('tool', tool))
    return { ...(isAccepted && { readOnlyHint: true }), ...asserted['*'], ...(Object.hasOwn(asserted, tool) ? asserted[tool] : undefined) }
  }

  /** Runs `run` with the client; see SupervisedServer. Secrets of the server are redacted in the answer and in errors. */
  async use<T>(run: (client: Client) => Promise<T>, options: { signal?: AbortSignal | undefined } = {}): Promise<T> {
    const { redactor } = this.#services
    try {
      const answer = await this.#supervised.use(run, options)
      return redactor.isEmpty ? answer : redactValue(answer, redactor)
    } catch (error) {
      throw redactError(error, redactor)
    }
  }

  /** Starts the server if it is not connected, and asks if needed. Resolves when its offering was read. */
  async ready(signal?: AbortSignal): Promise<void> {
    await this.use(async () => {}, { signal })
  }

  /** The person agreed to the start, and wants its first offering in use without a further question. */
  get isStartedByPerson(): boolean {
    return this.#start.isByPerson && !this.#isChoosing
  }

  /** The person wants to choose from the first offering: it is asked about. */
  letChoose(): void {
    this.#isChoosing = true
  }

  async subscribe(uri: string, listener: (uri: string) => void): Promise<() => void> {
    try {
      return await this.#supervised.subscribe(uri, listener)
    } catch (error) {
      throw redactError(error, this.#services.redactor)
    }
  }

  /** The conversation that a request of the server belongs to. Undefined if no conversation, or more than one, has a call under way. */
  get onlyConversation(): Conversation | undefined {
    return this.#conversations.size === 1 ? [...this.#conversations.keys()][0] : undefined
  }

  /** Does `work` for a conversation. Requests that the server sends meanwhile belong to that conversation. */
  async during<T>(conversation: Conversation, work: () => Promise<T>): Promise<T> {
    const calls = this.#conversations
    calls.set(conversation, (calls.get(conversation) ?? 0) + 1)
    try {
      return await work()
    } finally {
      const left = (calls.get(conversation) ?? 1) - 1
      if (left === 0) calls.delete(conversation)
      else calls.set(conversation, left)
    }
  }

  /** Takes the fingerprint, also before the first start: grants need it. */
  identify(): Promise<void> {
    return this.#start.identify()
  }

  start(): void {
    this.#supervised.start()
  }

  /** Decides about a start as for a connection of the host, and returns what a connection needs. Starts nothing. */
  async permitDirect(signal: AbortSignal): Promise<DirectConnection> {
    const { redactor } = this.#services
    const transport = await this.#start.permit(AbortSignal.any([signal, this.ending])).catch((error: unknown) => {
      throw redactError(error, redactor)
    })
    const { revisions, httpTransport } = this.spec
    const protocol = { ...(revisions && { revisions }), ...(httpTransport && { httpTransport }) }
    return { transport, protocol, ...(this.#auth && { authorize: this.#auth }), scrub: (text) => redactor.scrub(text) }
  }

  /** Tries to start the server now, also after failures or refusals. */
  async retry(): Promise<Health> {
    await this.#supervised.retry()
    return this.health
  }

  /** Ends the connection and opens it again. */
  async restart(): Promise<Health> {
    await this.#supervised.restart()
    return this.health
  }

  /** Ends the connection after a logout: a request without tokens would ask the person to log in again. */
  endLoggedOut(): void {
    this.#supervised.refuse(new McpError('ERR_AUTH', `You logged out of ${this.id}`))
  }

  settled(): Promise<void> {
    return this.#supervised.settled()
  }

  /** Real paths of the programs and files of its command. Empty before the first start. */
  get files(): readonly string[] {
    return this.#start.files
  }

  /** Pings the server. Resolves with the milliseconds until its answer. @throws McpError ERR_SERVER_DOWN while it is not connected */
  async ping(signal?: AbortSignal): Promise<number> {
    const started = performance.now()
    await this.#byHand((client) => client.ping({ timeoutMs: PING_TIMEOUT_MS, ...(signal && { signal }) }))
    return performance.now() - started
  }

  /**
   * Sets the lowest level of its log messages, also for later connections.
   * @throws McpError ERR_SERVER_DOWN while it is not connected, ERR_CAPABILITY_MISSING if it does not declare logging
   */
  async setLogLevel(level: LogLevel): Promise<void> {
    await this.#byHand((client) => {
      if (client.server.capabilities.logging) return client.setLogLevel(level)
      throw new McpError('ERR_CAPABILITY_MISSING', `The server ${JSON.stringify(this.id)} does not declare logging: it has no level`)
    })
    this.#supervised.logLevel = level
  }

  /** Does something with the connection that is there. It is not opened for this. */
  async #byHand(run: (client: Client) => Promise<void>): Promise<void> {
    try {
      await run(this.#supervised.client)
    } catch (error) {
      throw redactError(error, this.#services.redactor)
    }
  }

  /** Tells the server that its roots changed. */
  announceRoots(): void {
    this.#supervised.announceRoots()
  }

  close(): Promise<void> {
    return this.#supervised.close()
  }
}

/** One server in a host: what it is, what of it was approved, and the way from its configuration to a connection. */

import type { Client } from '../client/client.ts'
import type { Authorizer } from '../protocol/authorizer.ts'
import type { Implementation } from '../protocol/base.ts'
import { McpError } from '../protocol/errors.ts'
import { personUrl } from '../protocol/person-url.ts'
import { isSecretName } from '../protocol/redact.ts'
import type { Service } from '../protocol/service.ts'
import type { ToolAnnotations } from '../protocol/tools.ts'
import type { Question, Subject } from './ask/question.ts'
import { commandText } from './command-text.ts'
import { fillsOf } from './config/fills.ts'
import { resolveWay } from './config/resolve.ts'
import type { ActionPrimitive, ActionServer, PinState } from './consent/action.ts'
import { type Fingerprint, fingerprintChanges, fingerprintOf } from './fingerprint.ts'
import type { Want, WantedAction } from './gate/gate.ts'
import type { HostParts } from './parts.ts'
import { keyOf } from './pins/comparison.ts'
import { PINNED_KINDS, type Primitive, pinOf, primitivesOf } from './pins/pin.ts'
import type { Run } from './run.ts'
import { scrubbedError, scrubbedHealth, scrubbedSurface, scrubbedValue } from './scrubbed.ts'
import type { Health } from './servers/health.ts'
import type { Listing } from './servers/listing.ts'
import type { ServerSpec, Way } from './servers/spec.ts'
import { type SupervisedOptions, SupervisedServer } from './servers/supervised.ts'
import type { PrimitiveKind } from './servers/surface.ts'

export interface HostedServerOptions {
  spec: ServerSpec
  parts: HostParts
  auth: Authorizer | undefined
  supervision: Pick<SupervisedOptions, 'answers' | 'info' | 'limits' | 'clientLimits' | 'clock' | 'onHealth' | 'onLog' | 'onWarning'>
  /** Something it lists is not, or not yet, what was approved. */
  onListing(server: HostedServer, listing: Listing): void
  /** Asks the person for an input of the configuration; undefined when they do not say. */
  input(server: HostedServer, id: string, signal: AbortSignal): Promise<string | undefined>
  /** It is another program, or another address, than when it was started before: what it was given was not given to this. */
  onOther(server: HostedServer): void
}

export class HostedServer {
  readonly spec: ServerSpec
  readonly supervised: SupervisedServer
  readonly #options: HostedServerOptions
  /** As of the last start; before the first one nothing can be done with it, so there is nothing to compare. */
  #fingerprint: Fingerprint | undefined
  /** What it lists now, by kind and name. */
  #offered: ReadonlyMap<string, Primitive> = new Map()
  /** The conversations that have something under way at this server. */
  readonly #runs = new Map<Run, number>()

  constructor(options: HostedServerOptions) {
    const { spec, auth, supervision } = options
    this.spec = spec
    this.#options = options
    this.supervised = new SupervisedServer({
      ...supervision,
      spec,
      ...(auth && { auth }),
      permit: (signal) => this.#permit(signal),
      clean: (surface) => scrubbedSurface(surface, options.parts.redactor),
      onListing: (listing) => {
        this.#offered = new Map(primitivesOf(listing.surface).map((primitive) => [keyOf(primitive), primitive]))
        options.onListing(this, listing)
      },
    })
  }

  get id(): string {
    return this.spec.id
  }

  /** As questions show it. */
  get shown(): Question['server'] {
    const { info } = this.supervised.listing?.surface ?? {}
    return { id: this.id, title: this.spec.title ?? info?.title ?? info?.name ?? this.id, where: whereOf(this.spec.way) }
  }

  get facts(): ActionServer {
    const { id, tier, labels = [] } = this.spec
    // One that was closed is not in the configuration any more, whoever still holds it.
    const isKnown = this.supervised.health.state !== 'closed'
    return { id, fingerprint: this.#fingerprint?.fingerprint ?? 'not started yet', tier, isKnown, labels }
  }

  /** The definition that it lists now. */
  definition(kind: PrimitiveKind, name: string): unknown {
    return this.#offered.get(keyOf({ kind, name }))?.definition
  }

  primitive(kind: PrimitiveKind, name: string): ActionPrimitive {
    const definition = this.definition(kind, name)
    return { kind, name, pin: definition === undefined ? undefined : pinOf(definition), state: this.stateOf(kind, name) }
  }

  stateOf(kind: PrimitiveKind, name: string): PinState {
    const definition = this.definition(kind, name)
    // What is not offered any more cannot be what was approved.
    if (definition === undefined && PINNED_KINDS.has(kind)) return 'changed'
    return this.#options.parts.pins.stateOf(this.facts, kind, name, definition)
  }

  /**
   * In the moment in which something is sent: another process may have withdrawn it, or another server may be there by now.
   * @throws McpError ERR_QUARANTINED
   */
  async checkPinned({ kind, name }: Pick<ActionPrimitive, 'kind' | 'name'>): Promise<void> {
    const { pins } = this.#options.parts
    await pins.refresh()
    pins.check(this.facts, kind, name, this.definition(kind, name))
  }

  /** What the operator says about a tool, which goes before what they say about all of them. */
  asserted(tool: string): ToolAnnotations {
    const { asserted = {} } = this.spec
    return { ...asserted['*'], ...(Object.hasOwn(asserted, tool) ? asserted[tool] : undefined) }
  }

  /** Its client, for as long as that is needed; see SupervisedServer. What it was given at its start is in no answer and no error. */
  async use<T>(run: (client: Client) => Promise<T>, options: { signal?: AbortSignal } = {}): Promise<T> {
    const { redactor } = this.#options.parts
    try {
      const answer = await this.supervised.use(run, options)
      return redactor.isEmpty ? answer : scrubbedValue(answer, redactor)
    } catch (error) {
      throw scrubbedError(error, redactor)
    }
  }

  get health(): Health {
    return scrubbedHealth(this.supervised.health, this.#options.parts.redactor)
  }

  /** Whose call it is that a question of the server belongs to, if there is no doubt about it. */
  get onlyRun(): Run | undefined {
    return this.#runs.size === 1 ? [...this.#runs.keys()][0] : undefined
  }

  /** Does something for a conversation that the server may ask about while it is done. */
  async during<T>(run: Run, work: () => Promise<T>): Promise<T> {
    this.#runs.set(run, (this.#runs.get(run) ?? 0) + 1)
    try {
      return await work()
    } finally {
      const left = (this.#runs.get(run) ?? 1) - 1
      if (left === 0) this.#runs.delete(run)
      else this.#runs.set(run, left)
    }
  }

  /** Says what it is, also before it is started: what is granted to it is granted to that. */
  async identify(): Promise<void> {
    this.#fingerprint ??= await this.#identified()
  }

  #identified(): Promise<Fingerprint> {
    const { way } = this.spec
    const info = way.transport === 'memory' ? infoOf(way.service) : undefined
    return fingerprintOf(way, { cwd: this.#options.parts.project, ...(info && { info }) })
  }

  async #permit(signal: AbortSignal): Promise<Way> {
    const { parts, input, onOther } = this.#options
    const { way } = this.spec
    await parts.pins.refresh()
    const now = await this.#identified()
    const former = this.#fingerprint
    this.#fingerprint = now
    if (former && former.fingerprint !== now.fingerprint) {
      this.supervised.forgetSubscriptions()
      onOther(this)
    }
    if (way.transport === 'memory') {
      // Nobody is asked about its start: what was approved of another server is not carried over to it.
      if (parts.pins.adopted(this.id)?.fingerprint !== now.fingerprint) await parts.pins.forget(this.id)
      await parts.pins.adopt(this.id, now)
      return way
    }
    return parts.gate.run(this.#startWant(way, now, signal), async () => {
      // A program that was replaced while the person was reading is not the one they agreed to.
      const { fingerprint } = await this.#identified()
      if (fingerprint !== now.fingerprint)
        throw new McpError('ERR_QUARANTINED', `${this.id} is not what it was when you were asked about it; it is not started`)
      await parts.pins.adopt(this.id, now)
      // In the folder that the person was shown, wherever the host itself runs.
      const shown: Way = way.transport === 'stdio' ? { ...way, cwd: way.cwd ?? parts.project } : way
      const isSecret = (kind: string, name: string): boolean =>
        kind === 'secret' || (kind === 'env' ? isSecretName(name) : this.spec.inputs?.find(({ id }) => id === name)?.isSecret !== false)
      return resolveWay(shown, {
        secret: async (name) => (await parts.vault()).get(name),
        input: (id) => input(this, id, signal),
        // Everything but what is nobody's secret, and stands in many an honest line.
        onValue: (value, { kind, name }) => {
          if (isSecret(kind, name)) parts.redactor.add(value, `${kind} ${name}`)
        },
      })
    })
  }

  #startWant(way: Exclude<Way, { transport: 'memory' }>, now: Fingerprint, signal: AbortSignal): Want {
    const { parts } = this.#options
    const before = parts.pins.adopted(this.id)
    const changes = [...(before ? fingerprintChanges(before.parts, now.parts) : []), ...now.warnings]
    const isProcess = way.transport === 'stdio'
    const args = isProcess
      ? { command: way.command, args: way.args, cwd: way.cwd ?? parts.project, env: Object.keys(way.env) }
      : { url: way.url, headers: Object.keys(way.headers) }
    return {
      describe: (): WantedAction => ({
        kind: isProcess ? 'server.launch' : 'server.connect',
        run: parts.run.id,
        turn: 0,
        initiator: 'user',
        server: this.facts,
        claimed: {},
        asserted: {},
        args,
        labels: [],
      }),
      subject: () => startSubject(way, parts.project, changes),
      server: this.shown,
      chain: ['you'],
      signal,
    }
  }
}

function startSubject(way: Exclude<Way, { transport: 'memory' }>, project: string, changes: readonly string[]): Subject {
  if (way.transport === 'stdio') {
    const { command, args, cwd = project, env } = way
    return { kind: 'launch', command, args, cwd, envNames: Object.keys(env), fills: fillsOf(way), changes }
  }
  const url = personUrl(way.url)
  if (!url) throw new McpError('ERR_CONFIG', `Not an address to connect to: ${JSON.stringify(way.url)}; https, or http to this machine`)
  return { kind: 'connect', url, headerNames: Object.keys(way.headers), fills: fillsOf(way), changes }
}

/** Placeholders are not filled in here, so that no secret is in it but one that somebody wrote into the configuration. */
function whereOf(way: Way): string {
  if (way.transport === 'stdio') return commandText(way.command, way.args)
  return way.transport === 'http' ? way.url : 'in this process'
}

/** What a server in this process calls itself, where it says so before it is connected to. */
function infoOf(service: Service & Partial<Implementation>): Implementation | undefined {
  const { name, version } = service
  return typeof name === 'string' && typeof version === 'string' ? { name, version } : undefined
}

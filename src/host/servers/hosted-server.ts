/** One server in a host: what it is, what of it was approved, and the way from its configuration to a connection. */

import { personUrl } from '../../base/address/person-url.ts'
import { isSecretName } from '../../base/text/redact.ts'
import type { Client } from '../../client/client.ts'
import { McpError } from '../../protocol/errors.ts'
import type { Implementation } from '../../protocol/model/base.ts'
import type { ToolAnnotations } from '../../protocol/model/tools.ts'
import type { Authorizer } from '../../protocol/seams/authorizer.ts'
import type { Service } from '../../protocol/seams/service.ts'
import { keyOf } from '../approval/comparison.ts'
import { PINNED_KINDS, type Primitive, pinOf, primitivesOf } from '../approval/pin.ts'
import { type Address, checkAddress, refuseUnresolved, resolveAddress } from '../config/address.ts'
import { describePlaceholders } from '../config/describe-placeholders.ts'
import { type Placeholder, placeholdersIn } from '../config/placeholder.ts'
import { envValue, resolveTransport } from '../config/resolve.ts'
import type { ActionRequest, RequestedAction } from '../consent/gate/gate.ts'
import { commandText } from '../launch/command-text.ts'
import { type Fingerprint, fingerprintChanges, fingerprintOf, type Launch } from '../launch/fingerprint.ts'
import { type EntryFileFacts, findCommandProgram, folderOf } from '../launch/launch-context.ts'
import { changesWhatRuns, variableWarnings } from '../launch/variables.ts'
import type { ActionPrimitive, ActionServer, Effect, PinState } from '../model/action.ts'
import type { Health } from '../model/health.ts'
import type { PrimitiveKind } from '../model/offering.ts'
import type { Question, Subject } from '../model/question.ts'
import type { Run } from '../model/run.ts'
import type { ServerSpec, ServerTransport, StdioTransport } from '../model/server-spec.ts'
import { redactError, redactHealth, redactOffering, redactValue } from '../secrets/redact-output.ts'
import type { HostServices } from '../services/services.ts'
import type { Listing } from './listing.ts'
import { type SupervisedOptions, SupervisedServer } from './supervised.ts'

export interface HostedServerOptions {
  spec: ServerSpec
  parts: HostServices
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
      onItem: pinOf,
      clean: (surface) => redactOffering(surface, options.parts.redactor),
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
    return { id: this.id, title: this.spec.title ?? info?.title ?? info?.name ?? this.id, where: whereOf(this.spec.transport) }
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
      return redactor.isEmpty ? answer : redactValue(answer, redactor)
    } catch (error) {
      throw redactError(error, redactor)
    }
  }

  /** What it was given at its start is in no error of this either. */
  async subscribe(uri: string, listener: (uri: string) => void): Promise<() => void> {
    try {
      return await this.supervised.subscribe(uri, listener)
    } catch (error) {
      throw redactError(error, this.#options.parts.redactor)
    }
  }

  get health(): Health {
    return redactHealth(this.supervised.health, this.#options.parts.redactor)
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

  #identified(inputs: ReadonlyMap<string, string> = NO_INPUTS): Promise<Fingerprint> {
    const { transport } = this.spec
    const info = transport.type === 'memory' ? infoOf(transport.service) : undefined
    return fingerprintOf(this.#decided(transport, inputs), { ...this.#lookFrom, inputs, ...(info && { info }) })
  }

  /** With the address that a person and the policy decide about: what says where it leads is filled in, the rest is not. */
  #decided<W extends ServerTransport>(transport: W, inputs: ReadonlyMap<string, string>): W {
    return transport.type === 'http' ? { ...transport, url: this.#address(transport.url, inputs).url } : transport
  }

  #address(url: string, inputs: ReadonlyMap<string, string>): Address {
    return resolveAddress(url, (placeholder) => {
      if (this.#isSecret(placeholder.kind, placeholder.name)) return undefined
      return placeholder.kind === 'env' ? envValue(placeholder) : inputs.get(placeholder.name)
    })
  }

  get #lookFrom(): EntryFileFacts {
    const { dataFiles } = this.spec
    return { cwd: this.#options.parts.project, dataFiles }
  }

  async #permit(signal: AbortSignal): Promise<ServerTransport> {
    const { parts } = this.#options
    const { transport } = this.spec
    await parts.pins.refresh()
    if (transport.type === 'memory') {
      const now = await this.#see(NO_INPUTS)
      // Nobody is asked about its start: what was approved of another server is not carried over to it.
      if (parts.pins.adopted(this.id)?.fingerprint !== now.fingerprint) await parts.pins.forget(this.id)
      await parts.pins.adopt(this.id, now)
      return transport
    }
    const inputs = await this.#decisiveInputs(transport, signal)
    if (transport.type === 'http') refuseUnresolved(this.#address(transport.url, inputs), ({ kind, name }) => this.#isSecret(kind, name))
    const decided = this.#decided(transport, inputs)
    const now = await this.#see(inputs)
    return parts.gate.run(this.#startWant(transport, now, inputs, signal), async () => {
      const isAsking = placeholdersIn({ transport }).some(({ kind, name }) => kind === 'input' && !inputs.has(name))
      // Nobody is asked for values on behalf of a program that is not the one they agreed to.
      if (isAsking) await this.#checkStill(now, inputs)
      const resolved = await this.#resolved(transport, inputs, signal)
      if (resolved.type === 'http' && decided.type === 'http') checkAddress(resolved.url, decided.url)
      // Last: a program that was replaced while the person was reading or typing is not started.
      const last = await this.#checkStill(now, inputs)
      await parts.pins.adopt(this.id, now)
      return resolved.type === 'stdio' ? this.#found(resolved, last) : resolved
    })
  }

  /** Looks at what it is now, and remembers that. */
  async #see(inputs: ReadonlyMap<string, string>): Promise<Fingerprint> {
    const now = await this.#identified(inputs)
    const former = this.#fingerprint
    this.#fingerprint = now
    if (former && former.fingerprint !== now.fingerprint) {
      this.supervised.forgetSubscriptions()
      this.#options.onOther(this)
    }
    return now
  }

  async #checkStill(agreed: Fingerprint, inputs: ReadonlyMap<string, string>): Promise<Fingerprint> {
    const now = await this.#identified(inputs)
    if (now.fingerprint === agreed.fingerprint) return now
    throw new McpError('ERR_QUARANTINED', `${this.id} is not what it was when you were asked about it; it is not started`)
  }

  /** The answers without which it cannot be said what would run. */
  async #decisiveInputs(
    transport: Exclude<ServerTransport, { type: 'memory' }>,
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, string>> {
    const { parts, input } = this.#options
    const ids = new Set([...inputsThatDecide(this.spec), ...this.#addressInputs(transport)])
    if (ids.size === 0) return NO_INPUTS
    const { decision } = await parts.gate.foresee(this.#startWant(transport, await this.#identified(), NO_INPUTS, signal))
    // What may not be started in any case needs no answers from anybody.
    if (isRefusal(decision.effect)) return NO_INPUTS
    const inputs = new Map<string, string>()
    for (const id of ids) {
      const value = await input(this, id, signal)
      if (value === undefined)
        throw new McpError(
          'ERR_SECRET',
          `\${input:${id}}, which decides what ${this.id} ${transport.type === 'http' ? 'connects to' : 'runs'}, was not given`,
        )
      inputs.set(id, value)
    }
    return inputs
  }

  /** Those that say where it is connected to. Secrets are none: they would have to be shown. */
  #addressInputs(transport: ServerTransport): string[] {
    const open: readonly Placeholder[] = transport.type === 'http' ? this.#address(transport.url, NO_INPUTS).open : []
    return open.flatMap(({ kind, name }) => (kind === 'input' && !this.#isSecret(kind, name) ? [name] : []))
  }

  #resolved<W extends ServerTransport>(transport: W, inputs: ReadonlyMap<string, string>, signal: AbortSignal): Promise<W> {
    const { parts, input } = this.#options
    return resolveTransport(transport, {
      secret: async (name) => (await parts.vault()).get(name),
      input: async (id) => inputs.get(id) ?? (await input(this, id, signal)),
      // Everything but what is nobody's secret, and stands in many an honest line.
      onValue: (value, { kind, name }) => {
        if (this.#isSecret(kind, name)) parts.redactor.add(value, `${kind} ${name}`)
      },
    })
  }

  #isSecret(kind: string, name: string): boolean {
    if (kind === 'secret') return true
    return kind === 'env' ? isSecretName(name) : this.spec.inputs?.find(({ id }) => id === name)?.isSecret !== false
  }

  /** The program that was found in the last look, in the folder that the person was shown, wherever the host itself runs. */
  async #found(transport: StdioTransport, { launch }: Fingerprint): Promise<StdioTransport> {
    const cwd = folderOf(transport, this.#lookFrom)
    // As it is configured: without what is filled in.
    const configured = this.spec.transport.type === 'stdio' ? this.spec.transport.command : ''
    // A command with a secret in it was not known before.
    const program = launch?.program ?? (await findCommandProgram(transport, this.#lookFrom))
    if (!program) throw new McpError('ERR_SPAWN', `Cannot start ${JSON.stringify(configured)}: there is no such command (ENOENT)`)
    return { ...transport, command: program.path, cwd }
  }

  #startWant(
    transport: Exclude<ServerTransport, { type: 'memory' }>,
    now: Fingerprint,
    inputs: ReadonlyMap<string, string>,
    signal: AbortSignal,
  ): ActionRequest {
    const { parts } = this.#options
    const decided = this.#decided(transport, inputs)
    const before = parts.pins.adopted(this.id)
    const isProcess = transport.type === 'stdio'
    const since = before ? fingerprintChanges(before.parts, now.parts) : []
    const changes = [...since, ...(isProcess ? variableWarnings(transport.env) : []), ...now.warnings]
    const args = isProcess
      ? { command: transport.command, args: transport.args, cwd: transport.cwd ?? parts.project, env: Object.keys(transport.env) }
      : { url: decided.type === 'http' ? decided.url : transport.url, headers: Object.keys(transport.headers) }
    const fills = describePlaceholders(transport, new Map([...inputs].filter(([id]) => !this.#isSecret('input', id))))
    return {
      describe: (): RequestedAction => ({
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
      subject: () => startSubject(decided, { project: parts.project, launch: now.launch, fills, changes }),
      server: { ...this.shown, where: whereOf(decided) },
      chain: ['you'],
      ...((since.length > 0 || (before && before.fingerprint !== now.fingerprint)) && {
        because: [`You agreed to this before; since then it has changed${since.length > 0 ? ', as listed below' : ''}.`],
      }),
      isPassing: now.launch?.runsUnnamed ?? false,
      signal,
    }
  }
}

const NO_INPUTS: ReadonlyMap<string, string> = new Map()

const isRefusal = (effect: Effect): boolean => effect === 'deny' || effect === 'quarantine'

/**
 * The inputs that must be known before anybody is asked about the start: their values are names of files and programs, or
 * were proposed by whoever wrote the configuration. What a person types as a secret waits until they have agreed.
 */
function inputsThatDecide({ transport, inputs = [] }: ServerSpec): Set<string> {
  const names = placeholdersIn({ transport }).flatMap(({ kind, name, where }) => {
    if (kind !== 'input' || transport.type !== 'stdio') return []
    const { isSecret = true, default: preset, options } = inputs.find(({ id }) => id === name) ?? {}
    const isProposed = preset !== undefined || options !== undefined
    const [, variable] = /^env\.(.*)$/s.exec(where) ?? []
    const isDecisive = variable === undefined || changesWhatRuns(variable)
    return isProposed || (isDecisive && !isSecret) ? [name] : []
  })
  return new Set(names)
}

interface StartFacts {
  project: string
  launch: Launch | undefined
  fills: readonly string[]
  changes: readonly string[]
}

function startSubject(transport: Exclude<ServerTransport, { type: 'memory' }>, { project, launch, fills, changes }: StartFacts): Subject {
  if (transport.type === 'stdio') {
    const { command, args, cwd = project, env } = transport
    const program = launch?.program?.real
    return {
      kind: 'launch',
      command,
      args,
      cwd,
      envNames: Object.keys(env),
      // Whole, also under the name of a secret: a file wrote it, and a program may run it. Values of the vault are placeholders here.
      env,
      ...(program !== undefined && { program }),
      files: (launch?.files ?? []).filter((file) => file !== program),
      fills,
      changes,
    }
  }
  const url = personUrl(transport.url)
  if (!url)
    throw new McpError('ERR_CONFIG', `Not an address to connect to: ${JSON.stringify(transport.url)}; https, or http to this machine`)
  return { kind: 'connect', url, headerNames: Object.keys(transport.headers), fills, changes }
}

/** Placeholders are not filled in here, so that no secret is in it but one that somebody wrote into the configuration. */
function whereOf(transport: ServerTransport): string {
  if (transport.type === 'stdio') return commandText(transport.command, transport.args)
  return transport.type === 'http' ? transport.url : 'in this process'
}

/** What a server in this process calls itself, where it says so before it is connected to. */
function infoOf(service: Service & Partial<Implementation>): Implementation | undefined {
  const { name, version } = service
  return typeof name === 'string' && typeof version === 'string' ? { name, version } : undefined
}

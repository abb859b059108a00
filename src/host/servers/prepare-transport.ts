/** From the configuration of a server to a transport that may be opened: identify, ask for inputs, decide, resolve, identify again. */

import { randomUUID } from 'node:crypto'
import { personUrl } from '../../base/address/person-url.ts'
import { commandText } from '../../base/text/command-text.ts'
import { isSecretName } from '../../base/text/redact.ts'
import { McpError } from '../../protocol/errors.ts'
import type { Service } from '../../protocol/interfaces/service.ts'
import type { Implementation } from '../../protocol/model/base.ts'
import { type Address, checkAddress, refuseUnresolved, resolveAddress } from '../config/address.ts'
import { describePlaceholders } from '../config/describe-placeholders.ts'
import type { ActionRequest, RequestedAction } from '../consent/gate/gate.ts'
import type { ActionServer, Effect } from '../model/action.ts'
import type { Question, Subject } from '../model/question.ts'
import type { ServerSpec, ServerTransport, StdioTransport } from '../model/server-spec.ts'
import { type Fingerprint, fingerprintChanges, fingerprintOf, type Launch, versionChanges } from '../server-command/fingerprint.ts'
import { type EntryFileFacts, findCommandProgram, folderOf } from '../server-command/launch-context.ts'
import { type Placeholder, placeholdersIn } from '../server-command/placeholder.ts'
import { envValue, resolveTransport } from '../server-command/resolve-placeholders.ts'
import { changesWhatRuns, variableWarnings } from '../server-command/risky-variables.ts'
import { refuseSecretPrograms } from '../server-command/secret-programs.ts'
import type { ServerServices } from './server-services.ts'

export interface ServerStartOptions {
  spec: ServerSpec
  services: ServerServices
  facts(): ActionServer
  shown(): Question['server']
  /** Asks the person for an input of the configuration. Undefined if they give none. */
  input(id: string, signal: AbortSignal): Promise<string | undefined>
  /** The fingerprint differs from that of the last start. */
  onOther(): void
}

type RemoteTransport = Exclude<ServerTransport, { type: 'memory' }>
/** Values of inputs, by id. */
type Inputs = ReadonlyMap<string, string>

const NO_INPUTS: Inputs = new Map()

/** The start that was last permitted. */
interface PermittedStart {
  fingerprint: Fingerprint
  inputs: Inputs
  /** The grant that permitted it. Undefined: a rule did. */
  grant: string | undefined
}

export class ServerStart {
  readonly #options: ServerStartOptions
  #fingerprint: Fingerprint | undefined
  #permitted: PermittedStart | undefined

  constructor(options: ServerStartOptions) {
    this.#options = options
  }

  /** The fingerprint of the last start. Undefined until `identify` or the first start. */
  get fingerprint(): string | undefined {
    return this.#fingerprint?.fingerprint
  }

  /** Real paths of the programs and files of the command. Empty until `identify` or the first start. */
  get files(): readonly string[] {
    return this.#fingerprint?.launch?.files ?? []
  }

  /** Takes the fingerprint, also before the first start: grants need it. */
  async identify(): Promise<void> {
    this.#fingerprint ??= await this.#identify(NO_INPUTS)
  }

  /** The person answered the question about this start, now or before. Servers in this process are the developer's own. */
  get isByPerson(): boolean {
    const { transport, tier } = this.#options.spec
    return transport.type === 'memory' ? tier === 'trusted' : this.#permitted?.grant !== undefined
  }

  /** Whether the start asks no question: it needs no input, and a grant or a rule decides. */
  async mayStart(): Promise<boolean> {
    const { spec, services } = this.#options
    const { transport } = spec
    if (transport.type === 'memory') return true
    if (placeholdersIn({ transport }).some(({ kind }) => kind === 'input')) return false
    await services.pins.refresh()
    const now = await this.#identifyAgain(NO_INPUTS)
    const { decision } = await services.gate.evaluate(this.#request(transport, now, NO_INPUTS, undefined))
    return decision.effect !== 'ask'
  }

  /**
   * Whether the server that runs is the one that was permitted. A package whose version was not known before the start has one now: it
   * becomes part of the approval. A version other than the approved one is refused, and asked about at the next use.
   */
  async isAsPermitted(): Promise<boolean> {
    const { spec, services } = this.#options
    const permitted = this.#permitted
    if (!permitted?.fingerprint.launch?.hasUnpinned) return true
    const now = await this.#identify(permitted.inputs)
    const versions = versionChanges(permitted.fingerprint, now)
    if (versions === 'none' || versions === 'other') return true
    if (versions === 'changed') return false
    this.#fingerprint = now
    await services.pins.adopt(spec.id, now)
    permitted.grant = await this.#rebind(permitted.grant, now.fingerprint)
    permitted.fingerprint = now
    return true
  }

  /** Binds the grant for this start to the fingerprint with the version. */
  async #rebind(id: string | undefined, fingerprint: string): Promise<string | undefined> {
    const { grants } = this.#options.services
    const grant = (await grants.list()).find((each) => each.id === id)
    // A grant for once is used up by now.
    if (!grant) return id
    const bound = { ...grant, id: randomUUID(), bind: { ...grant.bind, fingerprint } }
    await grants.add(bound)
    await grants.revoke(grant.id)
    return bound.id
  }

  /**
   * Decides about the start and resolves all placeholders.
   * @throws McpError ERR_DENIED, ERR_CONSENT, ERR_QUARANTINED, ERR_SECRET, ERR_CONFIG
   */
  async permit(signal: AbortSignal): Promise<ServerTransport> {
    const { spec, services } = this.#options
    const { gate, pins } = services
    const { transport } = spec
    await pins.refresh()
    if (transport.type === 'memory') {
      const now = await this.#identifyAgain(NO_INPUTS)
      // A server in this process starts without a question, so approvals of a different server must not pass to it.
      await pins.adopt(spec.id, now, true)
      return transport
    }
    refuseSecretPrograms(transport)
    const inputs = await this.#decisiveInputs(transport, signal)
    if (transport.type === 'http') refuseUnresolved(this.#address(transport.url, inputs), ({ kind, name }) => this.#isSecret(kind, name))
    const decided = this.#withAddress(transport, inputs)
    const now = await this.#identifyAgain(inputs)
    return gate.run(this.#request(transport, now, inputs, signal), async ({ decision: { grant } }) => {
      const needsInputs = placeholdersIn({ transport }).some(({ kind, name }) => kind === 'input' && !inputs.has(name))
      // The person must not type values for a program that is no longer the one they agreed to.
      if (needsInputs) await this.#checkSame(now, inputs)
      const resolved = await this.#resolve(transport, inputs, signal)
      if (resolved.type === 'http' && decided.type === 'http') checkAddress(resolved.url, decided.url)
      // The last step: the program may have been replaced while the person was reading or typing.
      const last = await this.#checkSame(now, inputs)
      await pins.adopt(spec.id, now)
      this.#permitted = { fingerprint: now, inputs, grant }
      return resolved.type === 'stdio' ? this.#withProgram(resolved, last) : resolved
    })
  }

  #identify(inputs: Inputs): Promise<Fingerprint> {
    const { transport } = this.#options.spec
    const info = transport.type === 'memory' ? infoOf(transport.service) : undefined
    return fingerprintOf(this.#withAddress(transport, inputs), { ...this.#inspection, inputs, ...(info && { info }) })
  }

  async #identifyAgain(inputs: Inputs): Promise<Fingerprint> {
    const now = await this.#identify(inputs)
    const former = this.#fingerprint
    this.#fingerprint = now
    if (former && former.fingerprint !== now.fingerprint) this.#options.onOther()
    return now
  }

  async #checkSame(agreed: Fingerprint, inputs: Inputs): Promise<Fingerprint> {
    const now = await this.#identify(inputs)
    if (now.fingerprint === agreed.fingerprint) return now
    throw new McpError('ERR_QUARANTINED', `${this.#options.spec.id} changed after you approved its start, so it was not started`)
  }

  /** Fills in the placeholders that decide where a URL leads, because the person and the policy decide about that. */
  #withAddress<Transport extends ServerTransport>(transport: Transport, inputs: Inputs): Transport {
    return transport.type === 'http' ? { ...transport, url: this.#address(transport.url, inputs).url } : transport
  }

  #address(url: string, inputs: Inputs): Address {
    return resolveAddress(url, (placeholder) => {
      if (this.#isSecret(placeholder.kind, placeholder.name)) return undefined
      return placeholder.kind === 'env' ? envValue(placeholder) : inputs.get(placeholder.name)
    })
  }

  get #inspection(): EntryFileFacts {
    const { spec, services } = this.#options
    return { cwd: services.project, dataFiles: spec.dataFiles }
  }

  /** The inputs that decide what runs or where a URL leads. */
  async #decisiveInputs(transport: RemoteTransport, signal: AbortSignal): Promise<Inputs> {
    const { spec, services, input } = this.#options
    const ids = new Set([...inputsThatDecide(spec), ...this.#addressInputs(transport)])
    if (ids.size === 0) return NO_INPUTS
    const { decision } = await services.gate.evaluate(this.#request(transport, await this.#identify(NO_INPUTS), NO_INPUTS, signal))
    // A start that is refused in any case needs no inputs.
    if (isRefusal(decision.effect)) return NO_INPUTS
    const inputs = new Map<string, string>()
    for (const id of ids) {
      const value = await input(id, signal)
      if (value === undefined)
        throw new McpError(
          'ERR_SECRET',
          `\${input:${id}}, which decides what ${spec.id} ${transport.type === 'http' ? 'connects to' : 'runs'}, was not given`,
        )
      inputs.set(id, value)
    }
    return inputs
  }

  /** Inputs in the origin of a URL. Secret inputs are left out: they would have to be shown. */
  #addressInputs(transport: ServerTransport): string[] {
    const open: readonly Placeholder[] = transport.type === 'http' ? this.#address(transport.url, NO_INPUTS).open : []
    return open.flatMap(({ kind, name }) => (kind === 'input' && !this.#isSecret(kind, name) ? [name] : []))
  }

  #resolve<Transport extends ServerTransport>(transport: Transport, inputs: Inputs, signal: AbortSignal): Promise<Transport> {
    const { services, input } = this.#options
    return resolveTransport(transport, {
      secret: async (name) => (await services.vault()).get(name),
      input: async (id) => inputs.get(id) ?? (await input(id, signal)),
      // Values that are not secret occur in ordinary text and are not redacted.
      onValue: (value, { kind, name }) => {
        if (this.#isSecret(kind, name)) services.redactor.add(value, `${kind} ${name}`)
      },
    })
  }

  #isSecret(kind: string, name: string): boolean {
    if (kind === 'secret') return true
    return kind === 'env' ? isSecretName(name) : this.#options.spec.inputs?.find(({ id }) => id === name)?.isSecret !== false
  }

  /** Starts the program that was fingerprinted, in the folder that the person was shown. */
  async #withProgram(transport: StdioTransport, { launch }: Fingerprint): Promise<StdioTransport> {
    const { spec } = this.#options
    const cwd = folderOf(transport, this.#inspection)
    // The error shows the command as configured, without resolved values.
    const configured = spec.transport.type === 'stdio' ? spec.transport.command : ''
    // The program of a command with a secret in it can only be found now.
    const program = launch?.program ?? (await findCommandProgram(transport, this.#inspection))
    if (!program) throw new McpError('ERR_SPAWN', `Cannot start ${JSON.stringify(configured)}: there is no such command (ENOENT)`)
    return { ...transport, command: program.path, cwd }
  }

  #request(transport: RemoteTransport, now: Fingerprint, inputs: Inputs, signal: AbortSignal | undefined): ActionRequest {
    const { spec, services, facts, shown } = this.#options
    const { pins, project, ownConversation } = services
    const decided = this.#withAddress(transport, inputs)
    const before = pins.adopted(spec.id)
    const isProcess = transport.type === 'stdio'
    const since = before ? fingerprintChanges(before.parts, now.parts) : []
    const changes = [...since, ...(isProcess ? variableWarnings(transport.env) : []), ...now.warnings]
    const args = isProcess
      ? { command: transport.command, args: transport.args, cwd: transport.cwd ?? project, env: Object.keys(transport.env) }
      : { url: decided.type === 'http' ? decided.url : transport.url, headers: Object.keys(transport.headers) }
    const fills = describePlaceholders(transport, new Map([...inputs].filter(([id]) => !this.#isSecret('input', id))))
    return {
      describe: (): RequestedAction => ({
        kind: isProcess ? 'server.launch' : 'server.connect',
        run: ownConversation.id,
        turn: 0,
        initiator: 'user',
        server: facts(),
        claimed: {},
        asserted: {},
        args,
        labels: [],
      }),
      subject: () => startSubject(decided, { project, launch: now.launch, fills, changes }),
      server: { ...shown(), where: whereOf(decided) },
      chain: ['you'],
      ...((since.length > 0 || (before && before.fingerprint !== now.fingerprint)) && {
        because: ['It changed since you approved it'],
      }),
      isPassing: now.launch?.runsUnnamed ?? false,
      ...(signal && { signal }),
    }
  }
}

const isRefusal = (effect: Effect): boolean => effect === 'deny' || effect === 'quarantine'

/**
 * The inputs that the host needs before it asks about the start: inputs that name programs and files, and inputs for which
 * the configuration proposes values. The person types secrets after they have agreed.
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

function startSubject(transport: RemoteTransport, { project, launch, fills, changes }: StartFacts): Subject {
  if (transport.type === 'stdio') {
    const { command, args, cwd = project, env } = transport
    const program = launch?.program?.real
    return {
      kind: 'launch',
      command,
      args,
      cwd,
      envNames: Object.keys(env),
      // Values are shown in full, also under the name of a secret: a file contains them, and a program may run them.
      // Values from the vault are still placeholders here.
      env,
      ...(launch?.version !== undefined && { version: launch.version }),
      ...(launch?.hasUnpinned && launch.version === undefined && { isLatest: true }),
      ...(program !== undefined && { program }),
      files: (launch?.files ?? []).filter((file) => file !== program),
      fills,
      changes,
    }
  }
  const url = personUrl(transport.url)
  if (!url) throw new McpError('ERR_CONFIG', `Expected an address that is https or on this machine, got ${JSON.stringify(transport.url)}`)
  return { kind: 'connect', url, headerNames: Object.keys(transport.headers), fills, changes }
}

/** The command or the address with its placeholders, so that it contains no value from the vault. */
export function whereOf(transport: ServerTransport): string {
  if (transport.type === 'stdio') return commandText(transport.command, transport.args)
  return transport.type === 'http' ? transport.url : 'in this process'
}

/** The name and version of a server in this process, if it has them before it is connected. */
function infoOf(service: Service & Partial<Implementation>): Implementation | undefined {
  const { name, version } = service
  return typeof name === 'string' && typeof version === 'string' ? { name, version } : undefined
}

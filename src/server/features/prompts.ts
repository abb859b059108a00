/** Prompts: define, list, get. */

import { isObject } from '../../base/json.ts'
import type { Params } from '../../jsonrpc/message.ts'
import { checkMembers, type Members } from '../../protocol/check-members.ts'
import { McpError } from '../../protocol/errors.ts'
import { demand } from '../../protocol/interfaces/access.ts'
import type { Icon, Meta } from '../../protocol/model/base.ts'
import type { Prompt, PromptArgument } from '../../protocol/model/prompts.ts'
import { type AnySchema, type ObjectOf, type SchemaPort, schemaPort } from '../../protocol/schema/any-schema.ts'
import { describeIssues } from '../../protocol/schema/json-schema.ts'
import { type PromptReturn, toPromptResult } from '../content.ts'
import { CallContext, type Context } from '../context.ts'
import { checkMeta, checkScopes, checkWritable } from '../definition.ts'
import type { FeatureEnvironment } from '../feature-environment.ts'
import type { IncomingCall } from '../incoming-call.ts'
import { Listing } from '../listing.ts'
import { type Defined, type Follower, type Handle, Registry } from '../registry.ts'
import { runHandler } from '../run-handler.ts'
import type { Completers } from './completer.ts'

/** The definition of a prompt. */
export interface PromptDefinition<In extends AnySchema | undefined = AnySchema | undefined, Names extends string = string> {
  /** The name to show to people. */
  title?: string
  /** Tells the person what the prompt does. */
  description?: string
  /** The schema of the arguments: an object of strings. Default: no arguments. */
  input?: In
  /** Suggests values for the arguments, by name. */
  complete?: Completers<Names>
  /** Icons to show to people. */
  icons?: Icon[]
  /** The scopes that a caller needs to see and use the prompt, if the transport has authorization. */
  scopes?: readonly string[]
  /** The time limit of the handler. Default: `limits.handlerTimeoutMs`. */
  timeoutMs?: number
  /** Metadata for clients, by prefixed name: `com.example/key`. */
  _meta?: Meta
}

export type PromptHandler<In> = (
  args: In extends AnySchema ? ObjectOf<In> : Record<string, never>,
  context: Context,
) => PromptReturn | Promise<PromptReturn>

/** Changes a prompt after its definition. */
export type PromptHandle = Handle<PromptDefinition, PromptHandler<AnySchema | undefined>>

export type AnyPromptHandler = (args: unknown, context: Context) => PromptReturn | Promise<PromptReturn>

interface PromptEntry {
  prompt: Prompt
  input: SchemaPort | undefined
  definition: PromptDefinition
  handler: AnyPromptHandler
}

export class Prompts {
  readonly #environment: FeatureEnvironment
  readonly #registry: Registry<PromptEntry>
  readonly #listing: Listing<Prompt>
  #hadCompleters = false

  constructor(environment: FeatureEnvironment) {
    this.#environment = environment
    this.#registry = new Registry('prompt', () => {
      this.#listing.invalidate()
      environment.announce({ kind: 'prompts' })
    })
    this.#listing = new Listing<Prompt>({
      member: 'prompts',
      keyOf: ({ name }) => name,
      entries: () => this.#registry.enabled().map(({ prompt, definition }) => ({ item: prompt, scopes: definition.scopes })),
      ...environment.listOptions,
    })
  }

  get isOffered(): boolean {
    return this.#registry.wasUsed
  }

  define(name: string, definition: PromptDefinition, handler: AnyPromptHandler): PromptHandle {
    if (name === '' || name.length > 128)
      throw new McpError('ERR_DEFINITION', `A prompt name must have 1 to 128 characters; got ${name.length}`)
    return this.#registry.add(name, definition, handler, (current, run) => {
      const entry = toEntry(name, current, run as AnyPromptHandler)
      if (current.complete !== undefined) this.#hadCompleters = true
      return entry
    }) as PromptHandle
  }

  isDefined(name: string): boolean {
    return this.#registry.isDefined(name)
  }

  has(name: string): boolean {
    return this.#registry.get(name) !== undefined
  }

  /** For a server that mounts this one. */
  follow(follower: (prompt: Defined<PromptDefinition, AnyPromptHandler>) => PromptHandle | undefined): void {
    this.#registry.follow(follower as Follower)
  }

  list(call: IncomingCall): Params | Promise<Params> {
    return this.#listing.page(call.params.cursor, call.access)
  }

  async get(call: IncomingCall): Promise<Params> {
    const { name, arguments: args = {} } = call.params
    if (typeof name !== 'string') throw new McpError('ERR_INVALID_PARAMS', 'params.name must be a string')
    if (!isObject(args)) throw new McpError('ERR_INVALID_PARAMS', 'params.arguments must be an object')
    const wrong = Object.entries(args).find(([, value]) => typeof value !== 'string')
    if (wrong)
      throw new McpError(
        'ERR_INVALID_PARAMS',
        `Prompt ${JSON.stringify(name)} argument ${JSON.stringify(wrong[0])}: expected string, got ${typeof wrong[1]}`,
      )
    const entry = this.#registry.get(name)
    if (!entry) throw new McpError('ERR_PROMPT_NOT_FOUND', `Unknown prompt: ${name}`)
    demand(call.access, entry.definition.scopes)
    const missing = entry.prompt.arguments?.find((each) => each.required && !Object.hasOwn(args, each.name))
    if (missing)
      throw new McpError('ERR_INVALID_PARAMS', `Prompt ${JSON.stringify(name)} needs the argument ${JSON.stringify(missing.name)}`)
    const input = await entry.input?.check(args)
    if (input && !input.ok)
      throw new McpError('ERR_INVALID_PARAMS', `Prompt ${JSON.stringify(name)} arguments: ${describeIssues(input.issues)}`)

    const context = new CallContext(call, this.#environment)
    const run = (): unknown => entry.handler(input ? input.value : args, context)
    const finish = (value: unknown): Params => toPromptResult(value as PromptReturn, entry.prompt.description)
    return runHandler(
      call,
      run,
      finish,
      entry.definition.timeoutMs ?? this.#environment.limits.handlerTimeoutMs,
      this.#environment.deadlines,
    )
  }

  get hasScopes(): boolean {
    return this.#registry.enabled().some(({ definition }) => definition.scopes?.length)
  }

  scopesOf(name: unknown): readonly string[] | undefined {
    return typeof name === 'string' ? this.#registry.get(name)?.definition.scopes : undefined
  }

  /** The completers of a prompt; undefined when there is no such prompt. */
  completersOf(name: string): Completers | undefined {
    const entry = this.#registry.get(name)
    return entry && (entry.definition.complete ?? {})
  }

  hasArgument(name: string, argument: string): boolean {
    return this.#registry.get(name)?.prompt.arguments?.some((each) => each.name === argument) ?? false
  }

  /** Whether a prompt ever had completers. The declared capability stays even if that prompt is removed. */
  get hadCompleters(): boolean {
    return this.#hadCompleters
  }
}

const MEMBERS: Members<PromptDefinition> = {
  title: 1,
  description: 1,
  input: 1,
  complete: 1,
  icons: 1,
  scopes: 1,
  timeoutMs: 1,
  _meta: 1,
}

function toEntry(name: string, definition: PromptDefinition, handler: AnyPromptHandler): PromptEntry {
  const { input, complete, scopes, timeoutMs: _timeout, ...rest } = definition
  const where = `Prompt ${JSON.stringify(name)}`
  checkMembers(where, definition, MEMBERS)
  checkMeta(where, definition._meta)
  checkScopes(where, scopes)
  const port = input === undefined ? undefined : schemaPort(input, 'input', `${where} input`)
  const list = port ? argumentsOf(name, port) : undefined
  const unknown = Object.keys(complete ?? {}).find((each) => !list?.some((argument) => argument.name === each))
  if (unknown !== undefined)
    throw new McpError('ERR_DEFINITION', `The prompt ${JSON.stringify(name)} has no argument ${JSON.stringify(unknown)} to complete`)
  const prompt: Prompt = list === undefined ? { name, ...rest } : { name, ...rest, arguments: list }
  checkWritable(where, prompt)
  return { prompt, input: port, definition, handler }
}

/** The properties of the input schema as a list, the form that the protocol has for prompts. */
function argumentsOf(name: string, port: SchemaPort): PromptArgument[] {
  const { properties, required } = port.json
  if (port.json.type !== 'object' || !isObject(properties))
    throw new McpError('ERR_DEFINITION', `Prompt ${JSON.stringify(name)}: the input schema must be an object with properties`)
  return Object.entries(properties).map(([key, schema]) => {
    const argument: PromptArgument = { name: key }
    if (isObject(schema) && typeof schema.title === 'string') argument.title = schema.title
    if (isObject(schema) && typeof schema.description === 'string') argument.description = schema.description
    if (Array.isArray(required) && required.includes(key)) argument.required = true
    return argument
  })
}

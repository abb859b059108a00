/** Tools: define, list, call. */

import { isObject } from '../../base/json.ts'
import type { Params } from '../../jsonrpc/message.ts'
import { checkMembers, type Members } from '../../protocol/check-members.ts'
import { McpError } from '../../protocol/errors.ts'
import { demand } from '../../protocol/interfaces/access.ts'
import type { Icon, Meta } from '../../protocol/model/base.ts'
import { type ParamHeader, paramHeaders } from '../../protocol/model/param-headers.ts'
import type { CallToolResult, Tool, ToolAnnotations } from '../../protocol/model/tools.ts'
import { type AnySchema, type InputOf, type ObjectOf, type SchemaPort, schemaPort } from '../../protocol/schema/any-schema.ts'
import { describeIssues, type Issue, type JsonSchema } from '../../protocol/schema/json-schema.ts'
import type { AppDefinition, AppHook } from '../apps/hook.ts'
import { errorResult, isWholeResult, type ToolReturn, toCallResult } from '../content.ts'
import { CallContext, type Context } from '../context.ts'
import { checkMeta, checkScopes, checkWritable } from '../definition.ts'
import type { FeatureEnvironment } from '../feature-environment.ts'
import type { IncomingCall } from '../incoming-call.ts'
import { Listing } from '../listing.ts'
import { type Defined, type Follower, type Handle, Registry } from '../registry.ts'
import { runHandler } from '../run-handler.ts'
import type { TaskDefinition, TaskHook, TaskRules, TaskTool } from '../tasks/hook.ts'

/** The definition of a tool. */
export interface ToolDefinition<
  In extends AnySchema | undefined = AnySchema | undefined,
  Out extends AnySchema | undefined = AnySchema | undefined,
> extends TaskDefinition,
    AppDefinition {
  /** The name to show to people. */
  title?: string
  /** Tells the model what the tool does. */
  description?: string
  /** The schema of the arguments. It must describe an object. Default: no arguments. */
  input?: In
  /** The schema of the return value. Every result is checked against it. */
  output?: Out
  /** Hints: read-only, destructive, idempotent, open-world. */
  annotations?: ToolAnnotations
  /** Icons to show to people. */
  icons?: Icon[]
  /** The scopes that a caller needs to see and use the tool, if the transport has authorization. */
  scopes?: readonly string[]
  /** The time limit of one call. Default: `limits.handlerTimeoutMs`. */
  timeoutMs?: number
  /** Metadata for clients, by prefixed name: `com.example/key`. */
  _meta?: Meta
}

export type ArgumentsOf<In> = In extends AnySchema ? ObjectOf<In> : Record<string, never>
export type ReturnOf<Out> = Out extends AnySchema ? InputOf<Out> | { content: unknown[] } : ToolReturn | void

export type ToolHandler<In, Out> = (args: ArgumentsOf<In>, context: Context) => ReturnOf<Out> | Promise<ReturnOf<Out>>

/** Changes a tool after its definition. */
export type ToolHandle = Handle<ToolDefinition, ToolHandler<AnySchema | undefined, AnySchema | undefined>>

export type AnyToolHandler = (args: unknown, context: Context) => unknown

interface ToolEntry {
  tool: Tool
  input: SchemaPort
  output: SchemaPort | undefined
  /** Arguments that clients mirror in headers. */
  mirrored: readonly ParamHeader[]
  scopes: readonly string[] | undefined
  timeoutMs: number | undefined
  tasks: TaskRules | undefined
  isRestartable: boolean
  handler: AnyToolHandler
}

const TOOL_NAME = /^[A-Za-z0-9_.-]{1,128}$/
/** Also allows slashes, as an early proposal did. The specification advises against them. */
const TOOL_NAME_WITH_SLASHES = /^[A-Za-z0-9_./-]{1,128}$/

export class Tools {
  readonly #environment: FeatureEnvironment
  readonly #registry: Registry<ToolEntry>
  /** By what the client understands: tools that say whether their calls may become tasks, tools with views. */
  readonly #listings: readonly (readonly [plain: Listing<Tool>, withViews: Listing<Tool>])[]

  constructor(environment: FeatureEnvironment) {
    this.#environment = environment
    this.#registry = new Registry('tool', () => {
      for (const listing of this.#listings.flat()) listing.invalidate()
      environment.announce({ kind: 'tools' })
    })
    const withTasks = ({ tool, tasks }: ToolEntry): Tool =>
      tasks ? { ...tool, execution: { taskSupport: tasks.isRequired ? 'required' : 'optional' } } : tool
    this.#listings = [({ tool }: ToolEntry) => tool, withTasks].map((itemOf) => [
      this.#listingOf((entry) => this.#plain(itemOf(entry))),
      this.#listingOf(itemOf),
    ])
  }

  #plain(tool: Tool): Tool | undefined {
    const { apps } = this.#environment
    return apps ? apps.plain(tool) : tool
  }

  #listingOf(itemOf: (entry: ToolEntry) => Tool | undefined): Listing<Tool> {
    return new Listing<Tool>({
      member: 'tools',
      keyOf: (tool) => tool.name,
      entries: () =>
        this.#registry.enabled().flatMap((entry) => {
          const item = itemOf(entry)
          return item ? [{ item, scopes: entry.scopes }] : []
        }),
      ...this.#environment.listOptions,
    })
  }

  get isOffered(): boolean {
    return this.#registry.wasUsed
  }

  define(name: string, definition: ToolDefinition, handler: AnyToolHandler): ToolHandle {
    const { slashesInToolNames } = this.#environment
    if (!(slashesInToolNames ? TOOL_NAME_WITH_SLASHES : TOOL_NAME).test(name)) {
      const hint = !slashesInToolNames && TOOL_NAME_WITH_SLASHES.test(name) ? ' (the option slashesInToolNames allows slashes)' : ''
      const characters = `A-Z a-z 0-9 _ . -${slashesInToolNames ? ' /' : ''}`
      throw new McpError(
        'ERR_DEFINITION',
        `A tool name must have 1 to 128 characters from \`${characters}\`; got ${JSON.stringify(name)}${hint}`,
      )
    }
    return this.#registry.add(name, definition, handler, (current, run) =>
      toEntry(name, current, run as AnyToolHandler, this.#environment),
    ) as ToolHandle
  }

  isDefined(name: string): boolean {
    return this.#registry.isDefined(name)
  }

  /** For a server that mounts this one. */
  follow(follower: (tool: Defined<ToolDefinition, AnyToolHandler>) => ToolHandle | undefined): void {
    this.#registry.follow(follower as Follower)
  }

  has(name: string): boolean {
    return this.#registry.get(name) !== undefined
  }

  /** A call that asks for a task is not: its task has a record of its own. */
  isRestartable({ name, task }: Params): boolean {
    return typeof name === 'string' && task === undefined && this.#registry.get(name)?.isRestartable === true
  }

  mirroredParams(name: string): readonly ParamHeader[] {
    return this.#registry.get(name)?.mirrored ?? NOTHING_MIRRORED
  }

  get hasScopes(): boolean {
    return this.#registry.enabled().some(({ scopes }) => scopes?.length)
  }

  scopesOf(name: unknown): readonly string[] | undefined {
    return typeof name === 'string' ? this.#registry.get(name)?.scopes : undefined
  }

  list(call: IncomingCall): Params | Promise<Params> {
    const [plain, withViews] = this.#listings[call.revision.tasks === 'requested' ? 1 : 0] as [Listing<Tool>, Listing<Tool>]
    return (this.#environment.apps?.isShownTo(call) ? withViews : plain).page(call.params.cursor, call.access)
  }

  call(call: IncomingCall): Params | Promise<Params> {
    const { name, arguments: args = {} } = call.params
    if (typeof name !== 'string') throw new McpError('ERR_INVALID_PARAMS', 'params.name must be a string')
    if (!isObject(args)) throw new McpError('ERR_INVALID_PARAMS', 'params.arguments must be an object')
    const entry = this.#registry.get(name)
    if (!entry || this.#isHidden(entry, call)) throw new McpError('ERR_TOOL_NOT_FOUND', `Unknown tool: ${name}`)
    demand(call.access, entry.scopes)
    const spent = call.quota.spend('toolCalls', this.#environment.limits.toolCalls)
    return spent ? spent.then(() => this.#admitted(call, entry, args)) : this.#admitted(call, entry, args)
  }

  #admitted(call: IncomingCall, entry: ToolEntry, args: unknown): Params | Promise<Params> {
    return thenMaybe(entry.input.check(args), (input) => {
      if (!input.ok) return badArguments(entry.tool.name, input.issues, call)
      const { tasks } = this.#environment
      if (tasks?.concerns(call, entry.tasks)) return tasks.call(call, this.#taskTool(entry, input.value))
      return this.#run(call, entry, input.value)
    })
  }

  /** Tools for apps do not exist for a client that shows none. */
  #isHidden({ tool }: ToolEntry, call: IncomingCall): boolean {
    const { apps } = this.#environment
    return apps !== undefined && !apps.isShownTo(call) && apps.plain(tool) === undefined
  }

  /** The tool of a task that is started again; undefined if it is gone or no longer accepts the arguments. */
  async restart(name: string, args: unknown): Promise<TaskTool | undefined> {
    const entry = this.#registry.get(name)
    const input = await entry?.input.check(args)
    return entry && input?.ok ? this.#taskTool(entry, input.value) : undefined
  }

  #taskTool(entry: ToolEntry, args: unknown): TaskTool {
    const { tool, tasks: rules, timeoutMs } = entry
    return { name: tool.name, rules, timeoutMs, start: (call, ...more) => this.#run(call, entry, args, ...more) }
  }

  #run(
    call: IncomingCall,
    entry: ToolEntry,
    args: unknown,
    context = new CallContext(call, this.#environment),
    timeoutMs = entry.timeoutMs ?? this.#environment.limits.handlerTimeoutMs,
    onStarted: (value: unknown) => unknown = (value) => value,
  ): Params | Promise<Params> {
    return runHandler(
      call,
      () => onStarted(entry.handler(args, context)),
      (value) => toResult(value, entry),
      timeoutMs,
      this.#environment.deadlines,
    )
  }
}

const NOTHING_MIRRORED: readonly ParamHeader[] = []

const NO_ARGUMENTS: JsonSchema = { type: 'object', additionalProperties: false }

const MEMBERS: Members<ToolDefinition> = {
  title: 1,
  description: 1,
  input: 1,
  output: 1,
  annotations: 1,
  icons: 1,
  scopes: 1,
  timeoutMs: 1,
  task: 1,
  taskAfterMs: 1,
  taskTtlMs: 1,
  restartable: 1,
  view: 1,
  visibleTo: 1,
  _meta: 1,
}

function toEntry(
  name: string,
  definition: ToolDefinition,
  handler: AnyToolHandler,
  { tasks: hook, apps }: { tasks: TaskHook | undefined; apps: AppHook | undefined },
): ToolEntry {
  const { title, description, annotations, icons, input, output, timeoutMs, scopes, task, restartable, view, visibleTo } = definition
  const where = `Tool ${JSON.stringify(name)}`
  checkMembers(where, definition, MEMBERS)
  checkMeta(where, definition._meta)
  checkScopes(where, scopes)
  const inputPort = schemaPort(input === undefined ? NO_ARGUMENTS : input, 'input', `${where} input`)
  const outputPort = output === undefined ? undefined : schemaPort(output, 'output', `${where} output`)
  const inputSchema = inputPort.json
  if (inputSchema.type !== 'object')
    throw new McpError(
      'ERR_DEFINITION',
      `${where}: the input schema must describe an object, not ${JSON.stringify(inputSchema.type ?? 'anything')}`,
    )
  const { headers, fault } = paramHeaders(inputSchema)
  if (fault !== undefined) throw new McpError('ERR_DEFINITION', `${where}: ${fault}`)
  if (!hook && task !== undefined && task !== 'forbidden')
    throw new McpError('ERR_DEFINITION', `${where}: task needs server.extend(tasks()) of portico/tasks, before the tool is defined`)
  if (!apps && (view ?? visibleTo) !== undefined)
    throw new McpError('ERR_DEFINITION', `${where}: views need server.extend(apps({ ... })) of portico/apps, before the tool is defined`)
  const tasks = hook?.rules(where, definition)
  const _meta = apps ? apps.metaOf(where, definition) : definition._meta
  const tool: Tool = {
    name,
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    ...(annotations && { annotations }),
    ...(icons && { icons }),
    ...(_meta && { _meta }),
    inputSchema,
    ...(outputPort ? { outputSchema: outputPort.json } : {}),
  }
  checkWritable(where, tool)
  return {
    tool,
    input: inputPort,
    output: outputPort,
    mirrored: headers,
    scopes,
    timeoutMs,
    tasks,
    isRestartable: restartable === true,
    handler,
  }
}

function badArguments(name: string, issues: readonly Issue[], call: IncomingCall): Params {
  const message = describeBadArguments(name, issues)
  if (call.revision.reportsBadArgumentsInResult) return errorResult(message)
  throw new McpError('ERR_INVALID_PARAMS', message)
}

/** `Tool "forecast" argument "city": expected string, got number (42).` */
function describeBadArguments(name: string, issues: readonly Issue[]): string {
  const [first] = issues
  if (issues.length === 1 && first && first.path.length > 0) {
    return `Tool ${JSON.stringify(name)} argument ${JSON.stringify(describeIssues([{ path: first.path, message: '' }]).replace(/: $/, ''))}: ${first.message}.`
  }
  return `Tool ${JSON.stringify(name)} arguments: ${describeIssues(issues)}.`
}

function toResult(value: unknown, entry: ToolEntry): Params | Promise<Params> {
  const { tool } = entry
  return thenMaybe(toPlainResult(value, entry), (result) => {
    // A client without views, and the model, read only the content.
    if (tool._meta?.ui !== undefined && (result as CallToolResult).content.length === 0)
      throw new McpError(
        'ERR_OUTPUT_INVALID',
        `Tool ${JSON.stringify(tool.name)}: a tool with a view must return content for clients without it`,
      )
    return result
  })
}

function toPlainResult(value: unknown, { tool, output }: ToolEntry): Params | Promise<Params> {
  const isWhole = isWholeResult(value)
  if (!output || (isWhole && value.isError)) return toCallResult(value, output !== undefined)
  // Validate before serialising: a schema error says more than "not JSON".
  return thenMaybe(output.check(isWhole ? value.structuredContent : (value ?? null)), (checked) => {
    if (checked.ok) return toCallResult(value, true)
    throw new McpError(
      'ERR_OUTPUT_INVALID',
      `Tool ${JSON.stringify(tool.name)}: the result does not match its output schema: ${describeIssues(checked.issues)}`,
    )
  })
}

/** Continues at once when the value is there: waiting for a promise costs a turn that most calls do not need. */
function thenMaybe<T, R>(value: T | Promise<T>, next: (value: T) => R | Promise<R>): R | Promise<R> {
  return value instanceof Promise ? value.then(next) : next(value)
}

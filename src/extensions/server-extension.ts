/** `serverExtension`: settings, methods and notifications that the author of a server adds to the protocol. */

import { isObject } from '../base/json.ts'
import { reportError } from '../base/report-error.ts'
import type { Params } from '../jsonrpc/message.ts'
import { checkMembers } from '../protocol/check-members.ts'
import { McpError } from '../protocol/errors.ts'
import type { Settings } from '../protocol/model/lifecycle.ts'
import { type AnySchema, type SchemaPort, schemaPort } from '../protocol/schema/any-schema.ts'
import { describeIssues } from '../protocol/schema/json-schema.ts'
import type { AcceptedMember, Addition, ServerExtension } from '../server/addition.ts'
import { CallContext, type Context } from '../server/context.ts'
import { declaredSettings, requireExtension } from '../server/declared-extension.ts'
import type { FeatureEnvironment } from '../server/feature-environment.ts'
import type { IncomingCall } from '../server/incoming-call.ts'
import { runHandler } from '../server/run-handler.ts'
import { checkDefinition, checkHandler, type ParamsOf, type ResultOf, revisionRule } from './definition.ts'

/** The context of an extension's method. Only tools, prompts and resources can ask questions. */
export interface ExtensionContext extends Pick<Context, 'caller' | 'signal' | 'meta' | 'trace' | 'log' | 'progress'> {
  /** The settings that the client declared for this extension. Undefined in revisions without extensions. */
  readonly settings: Settings | undefined
}

/** A method of an extension, as a server has it. */
export interface ServedMethod {
  /** The schema of the params, without `_meta`. Default: any object. */
  params?: AnySchema
  /** The schema of the result. Every result is checked against it. Default: any object. */
  result?: AnySchema
  handler(params: Record<string, unknown>, context: ExtensionContext): unknown
}

/**
 * Gives the handler of a method the types of its schemas.
 *
 * @example
 * extensionMethod({ params: z.object({ text: z.string() }), handler: ({ text }) => ({ text: text.toUpperCase() }) })
 */
export function extensionMethod<P extends AnySchema | undefined = undefined, R extends AnySchema | undefined = undefined>(method: {
  params?: P
  result?: R
  handler: (params: ParamsOf<P>, context: ExtensionContext) => ResultOf<R> | Promise<ResultOf<R>>
}): ServedMethod {
  return method as unknown as ServedMethod
}

/** The definition of an extension for a server. */
export interface ServerExtensionDefinition {
  /** Its name, such as `com.example/feature`. */
  id: string
  /** Declared to clients. Default: no settings. */
  settings?: Settings
  /** The protocol revisions that have it. Default: those in which both sides declare extensions. */
  revisions?: readonly string[]
  /** Its methods, by name. */
  methods?: Readonly<Record<string, ServedMethod>>
  /** Notifications of clients, by name. Those that do not match their schema are ignored. */
  notifications?: Readonly<Record<string, { params?: AnySchema; handler(params: Record<string, unknown>): void }>>
  /** Notifications to clients, by name, with the schemas of their params: what `notify` of the handle may send. */
  sends?: Readonly<Record<string, { params?: AnySchema }>>
  /** A member that it adds to the filter of `subscriptions/listen`. Clients that ask for it get what `notify` sends. */
  subscription?: {
    /** The name of the member. */
    member: string
    /** The part of `wanted` that the server agrees to; undefined for nothing. Throw an `McpError` to refuse the request. */
    accept(wanted: unknown, context: ExtensionContext): unknown
    /** Whether a client gets this notification. Default: always. */
    matches?(accepted: unknown, method: string, params: Record<string, unknown>): boolean
  }
}

/**
 * An extension for `server.extend`. A client that did not declare it gets an error that says so.
 *
 * @example
 * const shout = serverExtension({
 *   id: 'com.example/shout',
 *   methods: {
 *     'com.example/shout': extensionMethod({
 *       params: z.object({ text: z.string() }),
 *       handler: ({ text }) => ({ text: text.toUpperCase() }),
 *     }),
 *   },
 * })
 * server.extend(shout)
 */
export function serverExtension(definition: ServerExtensionDefinition): ServerExtension {
  checkMembers('serverExtension', definition, {
    id: 1,
    settings: 1,
    revisions: 1,
    methods: 1,
    notifications: 1,
    sends: 1,
    subscription: 1,
  })
  checkDefinition(definition)
  const { id, methods = {}, subscription } = definition
  for (const [name, method] of Object.entries(methods)) checkHandler(id, name, method)
  if (subscription) checkSubscription(id, subscription)
  return { id, install: (environment) => new OwnAddition(definition, environment) }
}

/** Members of the filter that belong to the protocol and to tasks. */
const TAKEN: ReadonlySet<string> = new Set([
  'toolsListChanged',
  'promptsListChanged',
  'resourcesListChanged',
  'resourceSubscriptions',
  'taskIds',
])

function checkSubscription(id: string, { member, accept }: NonNullable<ServerExtensionDefinition['subscription']>): void {
  if (typeof member !== 'string' || member === '' || TAKEN.has(member))
    throw new McpError(
      'ERR_DEFINITION',
      `The extension ${id} needs a name of its own as "member" of its subscription, not ${JSON.stringify(member)}`,
    )
  if (typeof accept !== 'function') throw new McpError('ERR_DEFINITION', `The extension ${id} needs a function "accept" for ${member}`)
}

class OwnAddition implements Addition {
  readonly id: string
  readonly settings: Settings
  readonly isIn: Addition['isIn']
  readonly #environment: FeatureEnvironment
  readonly #methods: ReadonlyMap<string, (call: IncomingCall) => Promise<Params>>
  readonly #notifications: ReadonlyMap<string, (params: Params) => Promise<void>>
  readonly #sends: ReadonlyMap<string, SchemaPort | undefined>
  readonly #subscription: ServerExtensionDefinition['subscription']

  constructor(definition: ServerExtensionDefinition, environment: FeatureEnvironment) {
    const { id, settings = {}, revisions, methods = {}, notifications = {}, sends = {}, subscription } = definition
    this.id = id
    this.settings = settings
    this.isIn = revisionRule(revisions)
    this.#environment = environment
    this.#subscription = subscription
    this.#methods = new Map(Object.entries(methods).map(([name, method]) => [name, this.#handlerOf(name, method)]))
    this.#notifications = new Map(
      Object.entries(notifications).map(([name, { params, handler }]) => {
        const port = params && schemaPort(params, 'input', `${name} params`)
        return [name, (given) => takeNotice(name, given, port, handler)]
      }),
    )
    this.#sends = new Map(
      Object.entries(sends).map(([name, { params }]) => [name, params && schemaPort(params, 'output', `${name} params`)]),
    )
  }

  checkNotice(method: string, params: Params): void {
    if (!this.#sends.has(method))
      throw new McpError('ERR_DEFINITION', `The extension ${this.id} does not declare ${method}; add it to "sends"`)
    const read = this.#sends.get(method)?.check(params)
    if (read instanceof Promise) throw new McpError('ERR_SCHEMA', `${method}: the schema of a notification cannot check asynchronously`)
    if (read && !read.ok)
      throw new McpError('ERR_OUTPUT_INVALID', `${method}: the params do not match their schema: ${describeIssues(read.issues)}`)
  }

  has(method: string): boolean {
    return this.#methods.has(method)
  }

  run(call: IncomingCall): Promise<Params> | undefined {
    const handler = this.isIn(call.revision) ? this.#methods.get(call.method) : undefined
    if (!handler) return undefined
    requireExtension(call, this.id)
    return handler(call)
  }

  notice(method: string, params: Params, revision: Parameters<Addition['isIn']>[0]): void {
    if (this.isIn(revision)) void this.#notifications.get(method)?.(params)
  }

  accept(call: IncomingCall): Promise<AcceptedMember | undefined> | undefined {
    const subscription = this.#subscription
    const wanted = call.params.notifications
    if (!subscription || !this.isIn(call.revision) || !isObject(wanted) || wanted[subscription.member] === undefined) return undefined
    requireExtension(call, this.id)
    return this.#accept(subscription, wanted[subscription.member], call)
  }

  async #accept(
    subscription: NonNullable<ServerExtensionDefinition['subscription']>,
    wanted: unknown,
    call: IncomingCall,
  ): Promise<AcceptedMember | undefined> {
    const value = await subscription.accept(wanted, this.#contextOf(call))
    if (value === undefined) return undefined
    const matches = (method: string, params: Params): boolean => {
      try {
        return subscription.matches?.(value, method, params) ?? true
      } catch (error) {
        // What one client asked for must not keep the others from being told.
        reportError(`portico: "matches" of ${this.id} failed:`, error)
        return false
      }
    }
    return { id: this.id, name: subscription.member, value, matches }
  }

  #contextOf(call: IncomingCall): ExtensionContext {
    return new OwnContext(call, this.#environment, this.id)
  }

  #handlerOf(name: string, { params, result, handler }: ServedMethod): (call: IncomingCall) => Promise<Params> {
    const { limits, deadlines } = this.#environment
    const input = params && schemaPort(params, 'input', `${name} params`)
    const output = result && schemaPort(result, 'output', `${name} result`)
    return async (call) => {
      const { _meta, ...given } = call.params
      const read = input ? await input.check(given) : { ok: true as const, value: given }
      if (!read.ok) throw new McpError('ERR_INVALID_PARAMS', `${name}: ${describeIssues(read.issues)}`)
      const finish = (value: unknown): Promise<Params> => checkResult(name, value ?? {}, output)
      const run = (): unknown => handler(read.value as Params, this.#contextOf(call))
      return runHandler(call, run, finish, limits.handlerTimeoutMs, deadlines)
    }
  }
}

async function checkResult(name: string, value: unknown, output: SchemaPort | undefined): Promise<Params> {
  const checked = await output?.check(value)
  if (checked && !checked.ok)
    throw new McpError('ERR_OUTPUT_INVALID', `${name}: the result does not match its schema: ${describeIssues(checked.issues)}`)
  if (!isObject(value)) throw new McpError('ERR_OUTPUT_INVALID', `${name}: expected the result to be an object, got ${typeof value}`)
  return value
}

/** A notification has no answer, so its errors are only logged. */
async function takeNotice(name: string, given: Params, port: SchemaPort | undefined, handler: (params: Params) => void): Promise<void> {
  const { _meta, ...rest } = given
  try {
    const read = port ? await port.check(rest) : { ok: true as const, value: rest }
    // Awaited, because a handler may be asynchronous, and its rejection would end the process.
    if (read.ok) await (handler(read.value as Params) as unknown)
  } catch (error) {
    reportError(`portico: the handler of ${name} failed:`, error)
  }
}

class OwnContext extends CallContext implements ExtensionContext {
  readonly settings: Settings | undefined

  constructor(call: IncomingCall, environment: FeatureEnvironment, id: string) {
    super(call, environment)
    this.settings = declaredSettings(call, id)
  }
}

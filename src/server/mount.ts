/** Mounts a server in another one: its tools, prompts and resources, with all later changes. */

import { McpError } from '../protocol/errors.ts'
import type { MatchedValues } from '../protocol/uri-template/index.ts'
import type { AnyPromptHandler, PromptDefinition } from './features/prompts.ts'
import type { ResourceDefinition, ResourceHandler } from './features/resources.ts'
import type { AnyToolHandler, ToolDefinition } from './features/tools.ts'
import { type Middleware, type MiddlewareCall, targetOf } from './middleware.ts'
import type { Defined } from './registry.ts'
import type { ServerState } from './server-state.ts'

/** A tool on its way into another server. */
export type DefinedTool = Defined<ToolDefinition, AnyToolHandler>
/** A prompt on its way into another server. */
export type DefinedPrompt = Defined<PromptDefinition, AnyPromptHandler>
/** A resource or template on its way into another server. Its name is the URI. */
export type DefinedResource = Defined<ResourceDefinition, ResourceHandler<MatchedValues>>

/** Changes definitions on their way into another server. Each function returns the changed definition, or undefined to leave it out. */
export interface MountChanges {
  tool?(tool: DefinedTool): DefinedTool | undefined
  prompt?(prompt: DefinedPrompt): DefinedPrompt | undefined
  /** The URI cannot be changed. */
  resource?(resource: DefinedResource): DefinedResource | undefined
  /** What must be defined before the server is mounted, so that a misspelt name is noticed. */
  readonly expected?: { tools?: readonly string[]; prompts?: readonly string[]; resources?: readonly string[] }
}

const PREFIX = /^[A-Za-z0-9_.-]{0,64}$/

export function mount(outer: ServerState, prefix: string, inner: ServerState, changes: MountChanges = {}): void {
  if (typeof prefix !== 'string' || !PREFIX.test(prefix))
    throw new McpError(
      'ERR_DEFINITION',
      `The prefix of a mounted server must have at most 64 characters from A-Z a-z 0-9 _ . -; got ${JSON.stringify(prefix)}`,
    )
  if (isInside(outer, inner))
    throw new McpError('ERR_DEFINITION', `The server ${JSON.stringify(inner.info.name)} cannot be mounted in itself`)
  checkExpected(inner, changes)

  const timeout = { timeoutMs: inner.limits.handlerTimeoutMs }
  const prefixed = (name: string): string => (prefix === '' ? name : `${prefix}_${name}`)
  /** The names in the inner server, by the names in the outer one. */
  const tools = new Map<string, string>()
  const prompts = new Map<string, string>()

  inner.tools.follow((tool) => {
    const changed = changes.tool ? changes.tool(tool) : tool
    if (!changed) return undefined
    const name = prefixed(changed.name)
    const handle = outer.tools.define(name, { ...timeout, ...changed.definition }, changed.handler)
    tools.set(name, tool.name)
    return handle
  })
  inner.prompts.follow((prompt) => {
    const changed = changes.prompt ? changes.prompt(prompt) : prompt
    if (!changed) return undefined
    const name = prefixed(changed.name)
    const handle = outer.prompts.define(name, { ...timeout, ...changed.definition }, changed.handler)
    prompts.set(name, prompt.name)
    return handle
  })
  inner.resources.follow((resource, isHidden) => {
    const changed = changes.resource ? changes.resource(resource) : resource
    return changed && outer.resources.define(resource.name, { ...timeout, ...changed.definition }, changed.handler, isHidden)
  })

  inner.announcements.add((announcement) => {
    if (announcement.kind === 'change' && announcement.change.kind === 'resource') outer.announce(announcement.change)
  })
  outer.contain(inner)
  outer.use(middlewareOf(inner, tools, prompts), true)
}

/** Whether a server is another one, or is mounted in it at any depth. */
const isInside = (server: ServerState, other: ServerState): boolean =>
  server === other || server.outer.some((each) => isInside(each, other))

function checkExpected(inner: ServerState, { expected = {} }: MountChanges): void {
  for (const kind of ['tools', 'prompts', 'resources'] as const) {
    const missing = expected[kind]?.find((name) => !inner[kind].isDefined(name))
    if (missing === undefined) continue
    const server = JSON.stringify(inner.info.name)
    throw new McpError(
      'ERR_DEFINITION',
      `The server ${server} has no ${kind.slice(0, -1)} ${JSON.stringify(missing)} to change; define it before you mount the server`,
    )
  }
}

/** Runs the middleware of a mounted server around the calls of its tools, prompts and resources. It sees the names of its own server. */
function middlewareOf(inner: ServerState, tools: ReadonlyMap<string, string>, prompts: ReadonlyMap<string, string>): Middleware {
  return (call, next) => {
    const { method, target, params } = call
    if (inner.middleware.length === 0 || target === undefined) return next()
    if (method === 'resources/read') return inner.resources.find(target) ? run(inner, call, next) : next()
    const names = method === 'tools/call' ? tools : method === 'prompts/get' ? prompts : undefined
    const name = names?.get(target)
    if (!names || name === undefined) return next()
    const outerName = (given: unknown): unknown => (given === name ? target : ([...names].find(([, each]) => each === given)?.[0] ?? given))
    return run(inner, viewOf(inner, call, { ...params, name }), (changed) =>
      next(changed && { params: { ...changed.params, name: outerName(changed.params.name) } }),
    )
  }
}

type Next = Parameters<Middleware>[1]

function run(inner: ServerState, call: MiddlewareCall, next: Next, [current, ...rest] = inner.middleware): ReturnType<Middleware> {
  if (!current) return next(call)
  return current(call, async (changed) => run(inner, changed ? viewOf(inner, call, changed.params) : call, next, rest))
}

function viewOf(inner: ServerState, call: MiddlewareCall, params: MiddlewareCall['params']): MiddlewareCall {
  const { id, method, caller, trace } = call
  const named = { method, params }
  return {
    id,
    ...named,
    target: targetOf(named),
    isKnown: inner.knows(named),
    caller,
    trace,
    // Created on first use.
    get signal() {
      return call.signal
    },
    onAborted: (listener) => call.onAborted(listener),
    // Made on first use.
    get reference() {
      return call.reference
    },
  }
}

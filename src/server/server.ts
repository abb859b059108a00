/** `createServer`: define a server once and serve it in every revision on every transport. */

import { randomId } from '../base/bytes.ts'
import type { Params } from '../jsonrpc/message.ts'
import { McpError, UrlElicitationRequired } from '../protocol/errors.ts'
import type { Channel, ChannelOptions, Service } from '../protocol/interfaces/service.ts'
import type { AnySchema, UsableSchema } from '../protocol/schema/any-schema.ts'
import type { MatchedValues, VariablesOf } from '../protocol/uri-template/index.ts'
import { mergeOptions, withDefaults } from '../protocol/with-defaults.ts'
import type { SkillsOptions } from '../skills/options.ts'
import type { ExtensionHandle, ServerExtension } from './addition.ts'
import { ServerChannel } from './channel.ts'
import type { NamesOf } from './features/completer.ts'
import type { AnyPromptHandler, PromptDefinition, PromptHandle, PromptHandler } from './features/prompts.ts'
import type { ResourceDefinition, ResourceHandle, ResourceHandler } from './features/resources.ts'
import type { AnyToolHandler, ArgumentsOf, ToolDefinition, ToolHandle, ToolHandler } from './features/tools.ts'
import { checkedCall, explainMethods } from './foreign-calls.ts'
import { checkPageUrl } from './input/question.ts'
import { DEFAULT_LIMITS } from './limits.ts'
import { type Log, logOf } from './logging.ts'
import type { Middleware } from './middleware.ts'
import { type MountChanges, mount } from './mount.ts'
import type { ServerOptions } from './options.ts'
import { requiredScopes } from './required-scopes.ts'
import { ServerState } from './server-state.ts'
import { StatelessRequests } from './stateless-requests.ts'
import { Transports } from './transports.ts'

/** A server. Pass it to `serveStdio`, `listen` or `connect`, or to `pair` in a test. */
export interface Server extends Service {
  readonly name: string
  readonly version: string
  /**
   * Offers a tool without arguments, described by its name only.
   *
   * @example
   * server.tool('ping', () => 'pong')
   */
  tool(name: string, handler: ToolHandler<undefined, undefined>): ToolHandle
  /**
   * Offers a tool. The handler may return a string, an object, content blocks or a whole result.
   *
   * @example
   * server.tool('add', { input: z.object({ a: z.number(), b: z.number() }) }, ({ a, b }) => String(a + b))
   *
   * @returns a handle to change, disable or remove the tool later
   */
  tool<In extends AnySchema | undefined = undefined, Out extends AnySchema | undefined = undefined>(
    name: string,
    definition: ToolDefinition<In, Out> & { input?: UsableSchema<In>; output?: UsableSchema<Out> },
    handler: ToolHandler<In, Out>,
  ): ToolHandle
  /**
   * Offers a resource. A URI with `{variables}` is a template for many resources.
   *
   * @example
   * server.resource('config://app', { name: 'config', mimeType: 'application/json' }, () => ({ debug: false }))
   * server.resource('note://{id}', { name: 'note' }, ({ id }) => readNote(id))
   */
  resource<U extends string>(
    uri: U,
    definition: ResourceDefinition<NamesOf<VariablesOf<U>>>,
    handler: ResourceHandler<VariablesOf<U>>,
  ): ResourceHandle
  /**
   * Offers a prompt. Text that the handler returns becomes a message of the user.
   *
   * @example
   * server.prompt('review', { input: z.object({ code: z.string() }) }, ({ code }) => `Review this code:\n${code}`)
   */
  prompt<In extends AnySchema | undefined = undefined>(
    name: string,
    definition: PromptDefinition<In, NamesOf<ArgumentsOf<In>>> & { input?: UsableSchema<In> },
    handler: PromptHandler<In>,
  ): PromptHandle
  /**
   * Adds a function that runs around every request. The first one added is the outermost.
   *
   * @example
   * server.use(async (call, next) => {
   *   const start = performance.now()
   *   try {
   *     return await next()
   *   } finally {
   *     console.error(call.method, performance.now() - start)
   *   }
   * })
   */
  use(middleware: Middleware): void
  /**
   * Offers the tools, prompts and resources of another server as well, with all its later changes. Names of tools and prompts get the
   * prefix and `_`. An empty prefix keeps them.
   *
   * @param changes what to rename, change or leave out: `transform` of portico/compose
   * @example
   * server.mount('weather', weatherServer) // its tool forecast becomes weather_forecast
   */
  mount(prefix: string, other: Server, changes?: MountChanges): void
  /**
   * Adds an extension of the protocol: settings, methods and notifications.
   *
   * @example
   * import { serverExtension } from 'portico/extensions'
   *
   * server.extend(
   *   serverExtension({
   *     id: 'com.example/clock',
   *     methods: { 'com.example/now': { handler: () => ({ now: new Date().toISOString() }) } },
   *   }),
   * )
   */
  extend(extension: ServerExtension): ExtensionHandle
  /**
   * Serves a folder of skills: each folder in it with a SKILL.md is a skill, and each file of a skill is a resource. The promise resolves
   * when they have been read; requests that come earlier wait for them. Needs Node, Bun or Deno.
   *
   * @param folder a path, or a `file:` URL
   * @throws McpError ERR_DEFINITION that names the file and the line, if the folder or a skill in it cannot be served. The promise rejects
   * with it, and the server then has none of these skills.
   * @example
   * await server.skills(new URL('./skills', import.meta.url)) // the folder next to this file
   */
  skills(folder: string | URL, options?: SkillsOptions): Promise<void>
  /**
   * Notifies subscribers that a resource changed.
   *
   * @example
   * server.resourceChanged('note://42')
   */
  resourceChanged(uri: string): void
  /**
   * Sends log messages that belong to no request to all clients that have a session.
   * @deprecated by the newest revision, and may be removed from the protocol in a revision of 2027-07-28 or later. Use standard error or OpenTelemetry.
   */
  readonly log: Log
  /**
   * Notifies the client that the person has finished with a page. False when the id is unknown or already complete. With a store, other
   * replicas are asked, and the return value is always true.
   *
   * @example
   * app.get('/connected', (request) => server.completeElicitation(request.query.elicitationId))
   */
  completeElicitation(elicitationId: string): boolean
  /** Finishes the open requests on every channel, then closes the channels. */
  close(): Promise<void>
}

/**
 * Creates a server. It does nothing until a transport serves it.
 *
 * @example
 * import { createServer } from 'portico/server'
 * import { serveStdio } from 'portico/stdio'
 *
 * const server = createServer({ name: 'greeter', version: '1.0.0' })
 * server.tool('greet', { description: 'Says hello' }, () => 'Hello!')
 * await serveStdio(server)
 */
export function createServer(options: ServerOptions): Server
export function createServer(options: ServerOptions, more?: unknown): Server {
  if (more !== undefined) throw new McpError('ERR_DEFINITION', 'createServer takes one object: { name, version, instructions, ... }')
  const serverState = new ServerState(options)
  const channels = new Set<ServerChannel>()
  const stateless = new StatelessRequests(serverState)
  const transports = new Transports(() => serverState.tasks)

  const forget = (channel: ServerChannel): void => void channels.delete(channel)
  const open = (channelOptions: ChannelOptions): Channel => {
    serverState.start()
    const channel = new ServerChannel(serverState, channelOptions, forget)
    channels.add(channel)
    return channel
  }

  const log = logOf((level, data, logger) => {
    const message = { level, logger: logger ?? serverState.info.name, data }
    for (const channel of channels) channel.log((minimum, quota) => serverState.logging.write(message, minimum, quota))
    if (serverState.announcements.size === 0) return
    const json = serverState.logging.write(message, 'debug', serverState.quotas.of('server log'))
    if (json !== undefined) serverState.tellTransports({ kind: 'log', level, json })
  })

  const close = async (): Promise<void> => {
    if (serverState.loading) await serverState.loading
    await Promise.all([
      ...serverState.additions.map((each) => each.close?.()),
      stateless.drain(),
      ...[...channels].map((channel) => channel.drain()),
    ])
    for (const channel of channels) channel.close('The server was closed')
  }

  const server: Server = {
    name: serverState.info.name,
    version: serverState.info.version,
    tool: (...given: unknown[]) =>
      serverState.tools.define(
        ...(checkedCall('tool', typeof given[1] === 'function' ? [given[0], {}, given[1]] : given) as [
          string,
          ToolDefinition,
          AnyToolHandler,
        ]),
      ),
    resource: (...given) =>
      serverState.resources.define(...(checkedCall('resource', given) as [string, ResourceDefinition, ResourceHandler<MatchedValues>])),
    prompt: (...given) => serverState.prompts.define(...(checkedCall('prompt', given) as [string, PromptDefinition, AnyPromptHandler])),
    use: (middleware) => serverState.use(middleware),
    mount: (prefix, other, changes) => {
      const inner = states.get(other)
      if (!inner) throw new McpError('ERR_DEFINITION', 'Only a server made by createServer can be mounted; use a host for other servers')
      mount(serverState, prefix, inner, changes)
    },
    extend: (extension) => {
      if (typeof extension?.install !== 'function')
        throw new McpError(
          'ERR_DEFINITION',
          `server.extend: expected an extension such as tasks(), got ${extension instanceof Promise ? 'a promise; await it first' : 'something else'}`,
        )
      const { id } = extension
      const addition = extension.install(serverState)
      serverState.add(addition)
      const notify = (method: string, params: Params = {}): void => {
        addition.checkNotice?.(method, params)
        serverState.announce({ kind: 'extension', id, method, params })
      }
      return { id, notify }
    },
    skills: (folder, options) =>
      serverState.load(import('./skills/support.ts').then(({ serveSkills }) => serveSkills(serverState, folder, options))),
    resourceChanged: (uri) => serverState.resources.changed(uri),
    log,
    completeElicitation: (elicitationId) => serverState.completePage(elicitationId),
    open,
    answer: (request, outlet, sender) => {
      serverState.start()
      return stateless.answer(request, outlet, sender, serverState.revision(sender.version))
    },
    versions: serverState.supported.map((revision) => revision.version),
    requiredScopes: (request) => requiredScopes(request, serverState),
    hasTool: (tool) => serverState.tools.has(tool),
    mirroredParams: (tool) => serverState.tools.mirroredParams(tool),
    onAnnouncement: (listener) => {
      serverState.announcements.add(listener)
      return () => void serverState.announcements.delete(listener)
    },
    isRestartable: ({ method, params }) => method === 'tools/call' && serverState.tools.isRestartable(params ?? {}),
    shareWith: (shared) => {
      serverState.shared = shared
      // Other replicas could not open values that are sealed with a random key.
      if (!serverState.useKeys) shared.useKeys?.(serverState.keys)
    },
    serveTasks: () => transports.begin(),
    ...(serverState.useKeys && { useKeys: serverState.useKeys }),
    useLimits: (limits) => {
      // The defaults say which limits are rates, also if the code has switched one off.
      serverState.limits = withDefaults(DEFAULT_LIMITS, mergeOptions(serverState.limits, limits))
    },
    ...(!options.bus && {
      onRemoteChange: (change) => serverState.changeListeners.tellOnce(change),
      onMissedChanges: () => serverState.changeListeners.tellAll(),
    }),
    close,
  }
  explainMethods(server)
  states.set(server, serverState)
  return server
}

/** For servers that mount another one. */
const states = new WeakMap<Server, ServerState>()

/**
 * An error to throw from a handler when the person must visit a page before the request can be answered.
 *
 * @example
 * server.tool('calendar', {}, (_args, ctx) => {
 *   if (!isConnected(ctx.caller)) throw pageRequired('Connect your calendar', 'https://example.com/connect')
 *   return 'No events today'
 * })
 */
export function pageRequired(message: string, url: string, elicitationId: string = randomId()): UrlElicitationRequired {
  checkPageUrl(url)
  return new UrlElicitationRequired([{ message, url, elicitationId }])
}

/** The server library's face: define once, serve in every revision on every transport. */

import { randomId } from '../base/bytes.ts'
import { UrlElicitationRequired } from '../protocol/errors.ts'
import type { AnySchema } from '../protocol/schema/port.ts'
import type { Channel, ChannelOptions, Service } from '../protocol/seams/service.ts'
import type { MatchedValues, VariablesOf } from '../protocol/uri-template/index.ts'
import { checkPageUrl } from './ask/question.ts'
import { ServerChannel } from './channel.ts'
import { Core, type ServerOptions } from './core.ts'
import { runMethod } from './dispatch.ts'
import { type Log, logOf } from './features/logging.ts'
import type { AnyPromptHandler, PromptDefinition, PromptHandle, PromptHandler } from './features/prompts.ts'
import type { ResourceDefinition, ResourceHandle, ResourceHandler } from './features/resources.ts'
import type { AnyToolHandler, ToolDefinition, ToolHandle, ToolHandler } from './features/tools.ts'
import type { Middleware } from './middleware.ts'
import { requiredScopes } from './required-scopes.ts'
import { Standalone } from './standalone.ts'

export interface Server extends Service {
  readonly name: string
  readonly version: string
  /** Offers a tool. The handler may return a string, an object, content, or a whole result. */
  tool<In extends AnySchema | undefined = undefined, Out extends AnySchema | undefined = undefined>(
    name: string,
    definition: ToolDefinition<In, Out>,
    handler: ToolHandler<In, Out>,
  ): ToolHandle
  /** Offers a resource, or with `{variables}` in the URI a template for many. */
  resource<U extends string>(uri: U, definition: ResourceDefinition, handler: ResourceHandler<VariablesOf<U>>): ResourceHandle
  /** Offers a prompt. */
  prompt<In extends AnySchema | undefined = undefined>(
    name: string,
    definition: PromptDefinition<In>,
    handler: PromptHandler<In>,
  ): PromptHandle
  /** Puts a function around every request. */
  use(middleware: Middleware): void
  /** Tells subscribers that a resource changed. */
  resourceChanged(uri: string): void
  /**
   * Log messages that belong to no request; they reach clients that have a session.
   * @deprecated by the newest revision, and may be removed from the protocol in a revision of 2027-07-28 or later. Use standard error or OpenTelemetry.
   */
  readonly log: Log
  /** Tells the client that the person is done with a page it was sent to. False when nobody waits for it. */
  completeElicitation(elicitationId: string): boolean
  /** Finishes what is in hand on every channel, then closes them. */
  close(): Promise<void>
}

export function createServer(options: ServerOptions): Server {
  const core = new Core(options, runMethod)
  const channels = new Set<ServerChannel>()
  const standalone = new Standalone(core)

  const forget = (channel: ServerChannel): void => void channels.delete(channel)
  const open = (channelOptions: ChannelOptions): Channel => {
    const channel = new ServerChannel(core, channelOptions, forget)
    channels.add(channel)
    return channel
  }

  const log = logOf((level, data, logger) => {
    const message = { level, logger: logger ?? core.info.name, data }
    for (const channel of channels) channel.log((minimum, quota) => core.logging.write(message, minimum, quota))
  })

  const close = async (): Promise<void> => {
    await Promise.all([standalone.drain(), ...[...channels].map((channel) => channel.drain())])
    for (const channel of channels) channel.close('The server was closed')
  }

  return {
    name: core.info.name,
    version: core.info.version,
    tool: (name, definition, handler) => core.tools.define(name, definition, handler as AnyToolHandler),
    resource: (uri, definition, handler) => core.resources.define(uri, definition, handler as ResourceHandler<MatchedValues>),
    prompt: (name, definition, handler) => core.prompts.define(name, definition, handler as AnyPromptHandler),
    use: (middleware) => core.use(middleware),
    resourceChanged: (uri) => core.resources.changed(uri),
    log,
    completeElicitation: (elicitationId) => core.elicitations.complete(elicitationId),
    open,
    answer: (request, outlet, sender) => standalone.answer(request, outlet, sender, core.revision(sender.version)),
    versions: core.supported.map((revision) => revision.version),
    requiredScopes: (request) => requiredScopes(request, core),
    mirroredParams: (tool) => core.tools.mirroredParams(tool),
    close,
  }
}

/** Thrown by a handler: the person must visit this page before the request can be answered. */
export function pageRequired(message: string, url: string, elicitationId: string = randomId()): UrlElicitationRequired {
  checkPageUrl(url)
  return new UrlElicitationRequired([{ message, url, elicitationId }])
}

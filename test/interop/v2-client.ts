/** The client of the official TypeScript SDK, version 2, in both of its eras. */

import {
  Client,
  LOG_LEVEL_META_KEY,
  type LoggingLevel,
  SSEClientTransport,
  StreamableHTTPClientTransport,
  type Transport,
} from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { Inbox } from './inbox.ts'
import {
  CLIENT_INFO,
  endpointOf,
  expectNoProcess,
  expectNoSession,
  type ListedItem,
  newPerson,
  type OurServerOptions,
  type Over,
  ourServer,
  PAGED,
  type StartOurServer,
  startOurServer,
  type TheirClient,
  type ToolResult,
} from './their-client.ts'

export interface V2Options {
  /** `legacy` opens with a handshake; `auto` finds out; a revision is the only one accepted. */
  mode: 'legacy' | 'auto' | { pin: string }
  /** What a handshake asks for, and all it accepts. */
  revision?: string
  server?: OurServerOptions
  over?: Over
  start?: StartOurServer
}

export async function connectV2Client({
  mode,
  revision,
  server = {},
  over = 'stdio',
  start = startOurServer,
}: V2Options): Promise<TheirClient> {
  const person = newPerson()
  const asked: TheirClient['asked'] = new Inbox()
  const logs: TheirClient['logs'] = new Inbox()
  const updates: TheirClient['updates'] = new Inbox()
  const refreshed: TheirClient['refreshed'] = new Inbox()
  const completed: TheirClient['completed'] = new Inbox()
  const errors: Error[] = []

  const onChanged = (kind: 'tools' | 'prompts' | 'resources') => (error: Error | null, items: { name: string }[] | null) => {
    if (error) errors.push(error)
    refreshed.push({ kind, names: (items ?? []).map(({ name }) => name) })
  }
  const client = new Client(CLIENT_INFO, {
    capabilities: { elicitation: { form: { applyDefaults: true }, url: {} }, sampling: {}, roots: { listChanged: true } },
    versionNegotiation: { mode },
    ...(revision === undefined ? {} : { supportedProtocolVersions: [revision] }),
    listChanged: {
      tools: { onChanged: onChanged('tools'), debounceMs: 0 },
      prompts: { onChanged: onChanged('prompts'), debounceMs: 0 },
      resources: { onChanged: onChanged('resources'), debounceMs: 0 },
    },
  })
  client.onerror = (error) => errors.push(error)
  client.setRequestHandler('elicitation/create', ({ method, params }) => {
    asked.push({ method, params: { ...params } })
    return person.elicit({ ...params })
  })
  client.setRequestHandler('sampling/createMessage', ({ method, params }) => {
    asked.push({ method, params: { ...params } })
    return person.sample({ ...params })
  })
  client.setRequestHandler('roots/list', ({ method }) => {
    asked.push({ method, params: {} })
    return { roots: person.roots }
  })
  client.setNotificationHandler('notifications/message', ({ params }) => logs.push(params))
  client.setNotificationHandler('notifications/resources/updated', ({ params }) => updates.push(params))
  client.setNotificationHandler('notifications/elicitation/complete', ({ params }) => completed.push(params.elicitationId))

  const way = await wayTo(server, over, start)
  const close = async (): Promise<void> => {
    await client.close()
    await way.stop()
  }
  await client.connect(way.transport).catch(async (error: unknown) => {
    await way.stop()
    throw error
  })
  const isModern = client.getProtocolEra() === 'modern'

  const call: TheirClient['call'] = async (name, args, options) =>
    (await client.callTool({ name, ...(args ? { arguments: args } : {}) }, options)) as ToolResult

  return {
    get revision() {
      return client.getNegotiatedProtocolVersion()
    },
    get instructions() {
      return client.getInstructions()
    },
    get server() {
      return client.getServerVersion()
    },
    get capabilities() {
      return client.getServerCapabilities()
    },
    person,
    asked,
    logs,
    updates,
    refreshed,
    completed,
    errors,
    listTools: async () => (await client.listTools()).tools,
    listResources: async () => (await client.listResources()).resources,
    listResourceTemplates: async () => (await client.listResourceTemplates()).resourceTemplates,
    listPrompts: async () => (await client.listPrompts()).prompts,
    page: async (method, cursor) => {
      const result: Record<string, unknown> = await client.request({ method, params: cursor === undefined ? {} : { cursor } })
      return { items: result[PAGED[method]] as ListedItem[], nextCursor: result.nextCursor as string | undefined }
    },
    call,
    read: async (uri) => (await client.readResource({ uri })).contents,
    prompt: async (name, args) => (await client.getPrompt({ name, ...(args ? { arguments: args } : {}) })).messages,
    complete: async (ref, argument) => (await client.complete({ ref, argument })).completion.values,
    subscribe: async (uri) => {
      if (isModern) {
        const subscription = await client.listen({ resourceSubscriptions: [uri] })
        return () => subscription.close()
      }
      await client.subscribeResource({ uri })
      return async () => void (await client.unsubscribeResource({ uri }))
    },
    callLogged: async (level, name) => {
      if (isModern) return (await client.callTool({ name, _meta: { [LOG_LEVEL_META_KEY]: level } })) as ToolResult
      await client.setLoggingLevel(level as LoggingLevel)
      return call(name)
    },
    ping: () => (isModern ? client.discover() : client.ping()),
    setRoots: async (roots) => {
      person.roots = roots
      // Without a session there is nobody to tell.
      if (!isModern) await client.sendRootsListChanged()
    },
    leave: async () => {
      await way.leave(() => client.close())
      await close()
    },
    close,
  }
}

interface Way {
  transport: Transport
  /** Ends the connection and fails if something of it is left. */
  leave(close: () => Promise<void>): Promise<void>
  stop(): Promise<unknown>
}

async function wayTo(options: OurServerOptions, over: Over, start: StartOurServer): Promise<Way> {
  if (over === 'stdio') {
    const transport = new StdioClientTransport({ ...ourServer(options), stderr: 'ignore' })
    const leave: Way['leave'] = async (close) => {
      const { pid } = transport
      await close()
      expectNoProcess(pid)
    }
    return { transport, leave, stop: async () => {} }
  }
  const server = await start(options)
  const endpoint = endpointOf(server, over)
  if (over === 'http') {
    const transport = new StreamableHTTPClientTransport(endpoint)
    const leave: Way['leave'] = async (close) => {
      const { sessionId } = transport
      if (sessionId !== undefined) await transport.terminateSession()
      await close()
      if (sessionId !== undefined) await expectNoSession(endpoint, sessionId)
    }
    return { transport, leave, stop: server.stop }
  }
  const transport = new SSEClientTransport(endpoint)
  const leave: Way['leave'] = async (close) => {
    const { _endpoint } = transport as unknown as { _endpoint: URL }
    await close()
    await expectNoSession(_endpoint)
  }
  return { transport, leave, stop: server.stop }
}

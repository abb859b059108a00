/** The client of the official TypeScript SDK, version 1. */

import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import {
  CreateMessageRequestSchema,
  ElicitationCompleteNotificationSchema,
  ElicitRequestSchema,
  ListPromptsResultSchema,
  ListResourcesResultSchema,
  ListResourceTemplatesResultSchema,
  ListRootsRequestSchema,
  ListToolsResultSchema,
  type LoggingLevel,
  LoggingMessageNotificationSchema,
  ResourceUpdatedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js'
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
  type PagedMethod,
  type StartOurServer,
  startOurServer,
  type TheirClient,
  type ToolResult,
} from './their-client.ts'

const PAGE_SCHEMAS = {
  'tools/list': ListToolsResultSchema,
  'resources/list': ListResourcesResultSchema,
  'resources/templates/list': ListResourceTemplatesResultSchema,
  'prompts/list': ListPromptsResultSchema,
}

/** Starts our server and connects. It always asks for its newest revision and takes an older one if that is the answer. */
export async function connectV1Client(
  options: OurServerOptions = {},
  over: Over = 'stdio',
  start: StartOurServer = startOurServer,
): Promise<TheirClient> {
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
    listChanged: {
      tools: { onChanged: onChanged('tools'), debounceMs: 0 },
      prompts: { onChanged: onChanged('prompts'), debounceMs: 0 },
      resources: { onChanged: onChanged('resources'), debounceMs: 0 },
    },
  })
  client.onerror = (error) => errors.push(error)
  client.setRequestHandler(ElicitRequestSchema, ({ method, params }) => {
    asked.push({ method, params })
    return person.elicit(params)
  })
  client.setRequestHandler(CreateMessageRequestSchema, ({ method, params }) => {
    asked.push({ method, params })
    return person.sample(params)
  })
  client.setRequestHandler(ListRootsRequestSchema, ({ method }) => {
    asked.push({ method, params: {} })
    return { roots: person.roots }
  })
  client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => logs.push(params))
  client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => updates.push(params))
  client.setNotificationHandler(ElicitationCompleteNotificationSchema, ({ params }) => completed.push(params.elicitationId))

  const way = await wayTo(options, over, start)
  let revision: string | undefined
  const tellVersion = way.transport.setProtocolVersion?.bind(way.transport)
  // The one place where this SDK says what was agreed on.
  Object.assign(way.transport, {
    setProtocolVersion: (version: string) => {
      revision = version
      tellVersion?.(version)
    },
  })
  const close = async (): Promise<void> => {
    await client.close()
    await way.stop()
  }
  await client.connect(way.transport).catch(async (error: unknown) => {
    await way.stop()
    throw error
  })

  const page = async (method: PagedMethod, cursor?: string): Promise<{ items: ListedItem[]; nextCursor?: string }> => {
    const result: Record<string, unknown> = await client.request(
      { method, params: cursor === undefined ? {} : { cursor } },
      PAGE_SCHEMAS[method],
    )
    return { items: result[PAGED[method]] as ListedItem[], nextCursor: result.nextCursor as string | undefined }
  }
  const all = async <Page extends { nextCursor?: string | undefined }>(
    list: (params: { cursor?: string }) => Promise<Page>,
    itemsOf: (page: Page) => ListedItem[],
  ): Promise<ListedItem[]> => {
    const items: ListedItem[] = []
    for (let cursor: string | undefined, isFirst = true; isFirst || cursor !== undefined; isFirst = false) {
      const result = await list(cursor === undefined ? {} : { cursor })
      items.push(...itemsOf(result))
      cursor = result.nextCursor
    }
    return items
  }
  const call: TheirClient['call'] = async (name, args, callOptions) =>
    (await client.callTool({ name, ...(args ? { arguments: args } : {}) }, undefined, callOptions)) as ToolResult

  return {
    get revision() {
      return revision
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
    listTools: () =>
      all(
        (params) => client.listTools(params),
        ({ tools }) => tools,
      ),
    listResources: () =>
      all(
        (params) => client.listResources(params),
        ({ resources }) => resources,
      ),
    listResourceTemplates: () =>
      all(
        (params) => client.listResourceTemplates(params),
        ({ resourceTemplates }) => resourceTemplates,
      ),
    listPrompts: () =>
      all(
        (params) => client.listPrompts(params),
        ({ prompts }) => prompts,
      ),
    page,
    call,
    read: async (uri) => (await client.readResource({ uri })).contents,
    prompt: async (name, args) => (await client.getPrompt({ name, ...(args ? { arguments: args } : {}) })).messages,
    complete: async (ref, argument) => (await client.complete({ ref, argument })).completion.values,
    subscribe: async (uri) => {
      await client.subscribeResource({ uri })
      return async () => void (await client.unsubscribeResource({ uri }))
    },
    callLogged: async (level, name) => {
      await client.setLoggingLevel(level as LoggingLevel)
      return call(name)
    },
    ping: () => client.ping(),
    setRoots: async (roots) => {
      person.roots = roots
      await client.sendRootsListChanged()
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
      await transport.terminateSession()
      await close()
      await expectNoSession(endpoint, sessionId)
    }
    return { transport: transport as Transport, leave, stop: server.stop }
  }
  const transport = new SSEClientTransport(endpoint)
  const leave: Way['leave'] = async (close) => {
    const { _endpoint } = transport as unknown as { _endpoint: URL }
    await close()
    await expectNoSession(_endpoint)
  }
  return { transport, leave, stop: server.stop }
}

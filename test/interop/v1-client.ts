/** The client of the official TypeScript SDK, version 1. */

import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
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
  type ListedItem,
  newPerson,
  type OurServerOptions,
  ourServer,
  PAGED,
  type PagedMethod,
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
export async function connectV1Client(options: OurServerOptions = {}): Promise<TheirClient> {
  const person = newPerson()
  const asked: TheirClient['asked'] = new Inbox()
  const logs: TheirClient['logs'] = new Inbox()
  const updates: TheirClient['updates'] = new Inbox()
  const refreshed: TheirClient['refreshed'] = new Inbox()
  const completed: TheirClient['completed'] = new Inbox()
  const errors: Error[] = []
  const stderr: string[] = []

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

  const transport = new StdioClientTransport({ ...ourServer(options), stderr: 'pipe' })
  transport.stderr?.on('data', (chunk: Buffer) => stderr.push(chunk.toString()))
  let revision: string | undefined
  // The one place where this SDK says what was agreed on.
  Object.assign(transport, {
    setProtocolVersion: (version: string) => {
      revision = version
    },
  })
  await client.connect(transport)

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
    get pid() {
      return transport.pid
    },
    person,
    asked,
    logs,
    updates,
    refreshed,
    completed,
    errors,
    stderr,
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
    close: () => client.close(),
  }
}

/** Servers on the two versions of the official SDK and the reference server, at real ports for the length of a test file. */

import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { toNodeHandler } from '@modelcontextprotocol/node'
import { InMemoryEventStore } from '@modelcontextprotocol/sdk/examples/shared/inMemoryEventStore.js'
import { McpServer as V1Server } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { createMcpHandler, inputRequired, inputResponse, McpServer as V2Server } from '@modelcontextprotocol/server'
import { z } from 'zod'

export interface Peer {
  url: string
  close(): Promise<void>
}

const text = (said: string): { content: { type: 'text'; text: string }[] } => ({ content: [{ type: 'text', text: said }] })

async function at(listener: RequestListener): Promise<Peer> {
  const server = createServer(listener)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    close: async () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

/** Version 1: sessions, an event store, and streams that the server breaks off. */
export function v1Peer(): Promise<Peer & { forgetAll?: () => void }> {
  const sessions = new Map<string, StreamableHTTPServerTransport>()
  const listener = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const id = request.headers['mcp-session-id']
    const known = typeof id === 'string' ? sessions.get(id) : undefined
    if (known) return known.handleRequest(request, response)
    if (id !== undefined) return void response.writeHead(404).end()
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      eventStore: new InMemoryEventStore(),
      retryInterval: 50,
      onsessioninitialized: (given) => void sessions.set(given, transport),
      onsessionclosed: (given) => void sessions.delete(given),
    })
    await v1Server().connect(transport)
    await transport.handleRequest(request, response)
  }
  return at((request, response) => void listener(request, response)).then((peer) => ({ ...peer, forgetAll: () => sessions.clear() }))
}

function v1Server(): V1Server {
  const server = new V1Server({ name: 'v1', version: '1' }, { capabilities: { logging: {}, tools: { listChanged: true } } })
  server.registerTool('echo', { inputSchema: { text: z.string() } }, ({ text: said }) => text(said))
  server.registerTool('steps', {}, async ({ _meta, sendNotification }) => {
    for (const progress of [1, 2, 3]) {
      await sendNotification({
        method: 'notifications/progress',
        params: { progressToken: _meta?.progressToken ?? '', progress, total: 3 },
      })
    }
    return text('done')
  })
  server.registerTool('ask', {}, async () => {
    const requestedSchema = { type: 'object' as const, properties: { name: { type: 'string' as const } } }
    const { content } = await server.server.elicitInput({ message: 'Who?', requestedSchema })
    return text(String(content?.name))
  })
  server.registerTool('ask_here', {}, async ({ sendRequest }) => {
    const params = { messages: [{ role: 'user' as const, content: { type: 'text' as const, text: 'Hi' } }], maxTokens: 5 }
    const { model } = await sendRequest({ method: 'sampling/createMessage', params }, z.looseObject({ model: z.string() }))
    return text(model)
  })
  server.registerTool('break_off', {}, async ({ closeSSEStream }) => {
    closeSSEStream?.()
    await new Promise((resolve) => setTimeout(resolve, 100))
    return text('after the break')
  })
  server.registerTool('grow', {}, () => {
    server.registerTool(`grown_${randomUUID().slice(0, 8)}`, {}, () => text('new'))
    return text('grown')
  })
  server.registerResource('note', 'test://note', {}, ({ href }) => ({ contents: [{ uri: href, text: 'Grüße' }] }))
  server.registerPrompt('hello', {}, () => ({ messages: [{ role: 'user', content: { type: 'text', text: 'Hello' } }] }))
  return server
}

/** Version 2: both eras at one URL. */
export function v2Peer(): Promise<Peer> {
  const handler = createMcpHandler(() => {
    const server = new V2Server({ name: 'v2', version: '1' }, { capabilities: { logging: {} } })
    server.registerTool('echo', { inputSchema: z.object({ text: z.string() }) }, ({ text: said }) => text(said))
    server.registerTool('steps', { inputSchema: z.object({}) }, async (_, { mcpReq }) => {
      for (const progress of [1, 2, 3]) {
        const params = { progressToken: mcpReq._meta?.progressToken ?? '', progress, total: 3 }
        await mcpReq.notify({ method: 'notifications/progress', params })
      }
      return text('done')
    })
    server.registerTool('ask', { inputSchema: z.object({}) }, (_, { mcpReq }) => {
      const answer = inputResponse(mcpReq.inputResponses, 'who')
      if (answer.kind === 'elicit') return text(String(answer.content?.name))
      const requestedSchema = { type: 'object' as const, properties: { name: { type: 'string' as const } } }
      return inputRequired({ inputRequests: { who: inputRequired.elicit({ message: 'Who?', requestedSchema }) } })
    })
    server.registerTool(
      'regional',
      {
        inputSchema: z.object({ region: z.string().meta({ 'x-mcp-header': 'Region' }), depth: z.int().meta({ 'x-mcp-header': 'Depth' }) }),
      },
      ({ region, depth }) => text(`${region} ${depth}`),
    )
    server.registerResource('note', 'test://note', {}, ({ href }) => ({ contents: [{ uri: href, text: 'Grüße' }] }))
    server.registerPrompt('hello', {}, () => ({ messages: [{ role: 'user', content: { type: 'text', text: 'Hello' } }] }))
    return server
  })
  return at(toNodeHandler(handler))
}

const EVERYTHING = fileURLToPath(new URL('../../../node_modules/@modelcontextprotocol/server-everything/dist/index.js', import.meta.url))

/** The reference server in a process of its own. */
export async function everythingPeer(transport: 'streamableHttp' | 'sse'): Promise<Peer> {
  const port = await freePort()
  const child = spawn(process.execPath, [EVERYTHING, transport], { env: { ...process.env, PORT: String(port) }, stdio: 'ignore' })
  const path = transport === 'sse' ? '/sse' : '/mcp'
  const url = `http://localhost:${port}${path}`
  for (let tries = 0; tries < 100; tries++) {
    const isUp = await fetch(`http://localhost:${port}/`).then(
      () => true,
      () => false,
    )
    if (isUp) break
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  return {
    url,
    close: async () => {
      child.kill('SIGKILL')
      await once(child, 'exit')
    },
  }
}

async function freePort(): Promise<number> {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

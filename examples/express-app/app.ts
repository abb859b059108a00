/** An Express application with routes of its own, and an MCP server at /mcp that needs a key. */

import express, { type Express } from 'express'
import { apiKeys } from 'portico/auth'
import { type HttpHandler, httpHandler } from 'portico/http'
import { createServer } from 'portico/server'
import { z } from 'zod'

interface Todo {
  text: string
  by: string
}

export function todoApp(keys: Record<string, string>): { app: Express; mcp: HttpHandler } {
  const todos: Todo[] = [{ text: 'Water the plants', by: 'anna' }]

  const server = createServer({ name: 'todos', version: '1.0.0' })
  server.tool('list', { description: 'Lists what is to do', annotations: { readOnlyHint: true } }, () => ({ todos }))
  server.tool('add', { description: 'Adds something to do', input: z.object({ text: z.string().max(200) }) }, ({ text }, { caller }) => {
    todos.push({ text, by: caller.auth?.subject ?? 'somebody' })
    return `There are ${todos.length} things to do`
  })
  // Behind a proxy: allowedHosts: ['app.example.com'], trustProxy: true.
  const mcp = httpHandler(server, { auth: apiKeys({ keys }) })

  const app = express()
  app.use(express.json())
  app.get('/todos', (_request, response) => void response.json(todos))
  // A parser has read the body already, so pass it on.
  app.all('/mcp', (request, response) => mcp.node(request, response, request.body))
  return { app, mcp }
}

/** The server: what it offers to clients. */

import { createServer, type Server } from 'portico/server'
import * as z from 'zod'

export const server: Server = createServer({ name: 'NAME_OF_THE_PROJECT', version: '0.1.0' })

server.tool(
  'add',
  {
    title: 'Add',
    description: 'Adds two numbers',
    input: z.object({ a: z.number(), b: z.number() }),
    output: z.object({ sum: z.number() }),
    annotations: { readOnlyHint: true, openWorldHint: false },
  },
  ({ a, b }) => ({ sum: a + b }),
)

server.resource('greeting://{name}', { name: 'greeting', description: 'A greeting for a person' }, ({ name }) => `Hello, ${name}!`)

server.prompt(
  'review',
  { description: 'Asks for a review of code', input: z.object({ code: z.string() }) },
  ({ code }) => `Review this code:\n\n${code}`,
)

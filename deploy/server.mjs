/** The server of the image: a sample. Replace it with yours. */

import { hostname } from 'node:os'
import { createServer } from 'portico/server'

export const server = createServer({ name: 'sample', version: '1.0.0' })

server.tool('replica', { description: 'The name of the machine that answers' }, () => hostname())

const answer = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] }
server.tool('greet', { description: 'Asks for your name, and greets you' }, async (_args, ctx) => {
  const { name } = await ctx.elicit('name', 'What is your name?', answer)
  return `Hello, ${name}!`
})

const input = { type: 'object', properties: { to: { type: 'integer', minimum: 1, maximum: 100 } }, required: ['to'] }
server.tool('count', { description: 'Counts, and reports each number as progress', input }, async ({ to }, ctx) => {
  for (let i = 1; i <= to; i++) {
    await ctx.progress(i, to)
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  return `Counted to ${to}`
})

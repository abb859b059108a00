/** Who can read Redis must not be able to act in a session. */

import { expect, test } from 'vitest'
import { z } from 'zod'
import { redis } from '../../src/redis/index.ts'
import { keyRing } from '../../src/server/index.ts'
import { callTool, openSession, sessionAt, storedName, testServer, until, WATCHED } from '../support/http-service.ts'
import { redisOfFile } from '../support/redis-server.ts'
import { serveReplicas } from '../support/replicas.ts'

const server = redisOfFile()
const keys = keyRing('a secret, of at least 32 characters!')

test('Redis gets the names of sessions, and never an id that a client could use', async () => {
  const { url, cli, listenIn } = await server()
  const commands = await listenIn()
  const stores = [redis(url, { prefix: 'ids:' }), redis(url, { prefix: 'ids:' })]
  const { urls, servers } = await serveReplicas(
    () => {
      const made = testServer({ keys })
      made.resource('note://one', { name: 'one' }, () => 'one')
      made.tool('name', {}, async (_args, ctx) => {
        await ctx.progress(1)
        const { name } = await ctx.elicit('name', 'Your name?', z.object({ name: z.string() }))
        return `Hello ${name}`
      })
      return made
    },
    { stores, count: 2 },
  )
  const session = await openSession(urls[0] as string, '2025-11-25', { capabilities: { elicitation: {} } })
  const elsewhere = sessionAt(urls[1] as string, session.id, session.headers)
  expect((await session.ask({ method: 'resources/subscribe', params: { uri: 'note://one' } })).status).toBe(200)
  const standing = await elsewhere.listen()
  servers[0]?.resourceChanged('note://one')
  expect(await standing.message()).toMatchObject({ params: { uri: 'note://one' } })
  const stream = await session.askStream({ ...callTool('name', {}, WATCHED), id: 7 })
  expect(await stream.message()).toMatchObject({ method: 'notifications/progress' })
  const question = await stream.message()
  const answer = { jsonrpc: '2.0', id: question.id, result: { action: 'accept', content: { name: 'Ada' } } }
  expect((await elsewhere.post(answer)).status).toBe(202)
  expect(await stream.message()).toMatchObject({ result: { content: [{ text: 'Hello Ada' }] } })
  expect((await elsewhere.end()).status).toBe(204)
  await cli('ECHO', 'the end of this test')
  await until(() => commands().includes('the end of this test'))
  const code = session.id.slice(storedName(session).length + 1)
  expect(code).toMatch(/^[\w-]{16}$/)
  expect(commands()).toContain(`ids:{${storedName(session)}}:session`)
  expect(commands()).not.toContain(code)
  // The name alone is not an id.
  const named = { ...session.headers, 'mcp-session-id': storedName(session) }
  expect((await sessionAt(urls[0] as string, storedName(session), named).ask(callTool('hi'))).status).toBe(404)
})

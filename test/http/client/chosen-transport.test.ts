/** A client that is told which HTTP transport to use, against a server that has both. */

import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { Client } from '../../../src/client/index.ts'
import { deployServer } from '../../../src/demo/index.ts'
import { httpTarget } from '../../../src/http/client/index.ts'
import type { HttpExchange } from '../../../src/http/client/options.ts'
import { listen } from '../../../src/http/index.ts'

async function served() {
  const server = deployServer({ stepMs: 1 })
  const { url, close } = await listen(server, { port: 0, handleSignals: false })
  onTestFinished(async () => {
    await close()
    await server.close()
  })
  const seen: string[] = []
  const onExchange = ({ method, url: { pathname }, status }: HttpExchange): number => seen.push(`${method} ${pathname} ${status}`)
  const connect = async (at: string, transport: 'streamable-http' | 'sse') => {
    const client = await Client.connect(httpTarget(at, { transport, onExchange }))
    onTestFinished(() => client.close())
    return client
  }
  return { url, old: url.replace('/mcp', '/sse'), seen, connect }
}

test('HTTP with SSE begins with its stream, and sends nothing to the address before', async () => {
  const { old, seen, connect } = await served()
  const client = await connect(old, 'sse')
  expect((await client.tools().all()).map(({ name }) => name)).toContain('plan')
  expect(seen[0]).toBe('GET /sse 200')
  expect(seen.slice(1).every((each) => /^POST \/message/.test(each))).toBe(true)
})

test('Streamable HTTP is not left for the older transport', async () => {
  const { url, seen, connect } = await served()
  expect((await (await connect(url, 'streamable-http')).tools().all()).length).toBeGreaterThan(0)
  const old = createServer((_, response) => response.writeHead(404).end()).listen(0, '127.0.0.1')
  onTestFinished(() => void old.close())
  await once(old, 'listening')
  seen.length = 0
  const connecting = connect(`http://127.0.0.1:${(old.address() as AddressInfo).port}/mcp`, 'streamable-http')
  await expect(connecting).rejects.toMatchObject({ code: 'ERR_NO_ENDPOINT' })
  expect(new Set(seen)).toEqual(new Set(['POST /mcp 404']))
})

test('an address without this transport is an error that says what came', async () => {
  const { url, connect } = await served()
  await expect(connect(url, 'sse')).rejects.toMatchObject({
    code: 'ERR_NO_ENDPOINT',
    message: expect.stringContaining('expected text/event-stream'),
  })
})

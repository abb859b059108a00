/** Runs the worker in Node: @hono/node-server turns requests of Node into web requests. */

import type { AddressInfo } from 'node:net'
import { serve } from '@hono/node-server'
import { connect } from 'portico'
import worker, { type Env } from './worker.ts'

const env: Env = { PUBLIC_HOST: 'tools.example.workers.dev', API_KEY: 'only-for-this-example' }
const http = serve({ port: 0, hostname: '127.0.0.1', fetch: (request) => worker.fetch(request, env) })
await new Promise((resolve) => (http.listening ? resolve(undefined) : http.once('listening', resolve)))
const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`

const client = await connect(url, { http: { headers: { authorization: `Bearer ${env.API_KEY}` } } })
console.log((await client.call('mix', { a: '#ff0000', b: '#0000ff' })).content)
await client.close()

const headers = { 'content-type': 'application/json' }
console.log('Without a key:', (await worker.fetch(new Request(url, { method: 'POST', body: '{}', headers }), env)).status)
http.close()

/** Uses the application over its own route and over MCP. */

import type { AddressInfo } from 'node:net'
import { connect } from 'portico'
import { todoApp } from './app.ts'

const key = 'only-for-this-example'
const { app, mcp } = todoApp({ ci: key })
const http = app.listen(0, '127.0.0.1')
await new Promise((resolve) => http.once('listening', resolve))
const origin = `http://127.0.0.1:${(http.address() as AddressInfo).port}`

const client = await connect(`${origin}/mcp`, { http: { headers: { authorization: `Bearer ${key}` } } })
console.log((await client.call('add', { text: 'Paint the fence' })).content)
await client.close()
console.log(await (await fetch(`${origin}/todos`)).json())

const refused = await fetch(`${origin}/mcp`, { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } })
console.log('Without a key:', refused.status)
await mcp.close()
http.close()

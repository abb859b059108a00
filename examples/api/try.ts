/** Starts the API, and calls it through the tools. */

import { connect } from 'portico'
import { shopServer } from './server.ts'
import { startApi } from './shop-api.ts'

const key = 'known to the server'
const { url, close } = await startApi(key)
const client = await connect(shopServer(url, key))
for await (const { name, inputSchema } of client.tools()) console.log(name, Object.keys(inputSchema.properties ?? {}))
console.log((await client.call('shop_list')).structuredContent)
console.log((await client.call('shop_list', { shelf: 'south' })).structuredContent)
console.log((await client.call('convert', { euro: 10 })).content)
await client.close()
close()

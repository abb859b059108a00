import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'

export async function open(url) {
  const client = new Client({ name: 'v1', version: '1' })
  await client.connect(new StreamableHTTPClientTransport(new URL(url)))
  return { call: (text) => client.callTool({ name: 'echo', arguments: { text } }), close: () => client.close() }
}

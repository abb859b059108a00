import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'

export async function open(url) {
  const client = new Client({ name: 'v2', version: '1' })
  await client.connect(new StreamableHTTPClientTransport(new URL(url)))
  return { call: (text) => client.callTool({ name: 'echo', arguments: { text } }), close: () => client.close() }
}

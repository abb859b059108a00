import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'

export async function open(command, args) {
  const client = new Client({ name: 'v1', version: '1' })
  await client.connect(new StdioClientTransport({ command, args }))
  return { call: (text) => client.callTool({ name: 'echo', arguments: { text } }), close: () => client.close() }
}

import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'

export async function open(command, args) {
  const client = new Client({ name: 'v2', version: '1' }, { versionNegotiation: { mode: 'legacy' } })
  await client.connect(new StdioClientTransport({ command, args }))
  return { call: (text) => client.callTool({ name: 'echo', arguments: { text } }), close: () => client.close() }
}

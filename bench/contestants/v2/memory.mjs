import { Client, InMemoryTransport } from '@modelcontextprotocol/client'
import { benchServer } from './offering.mjs'

export async function open() {
  const [mine, theirs] = InMemoryTransport.createLinkedPair()
  await benchServer().connect(theirs)
  const client = new Client({ name: 'v2', version: '1' }, { versionNegotiation: { mode: 'legacy' } })
  await client.connect(mine)
  return { call: (text) => client.callTool({ name: 'echo', arguments: { text } }), close: () => client.close() }
}

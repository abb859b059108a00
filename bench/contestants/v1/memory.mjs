import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js'
import { benchServer } from './offering.mjs'

export async function open() {
  const [mine, theirs] = InMemoryTransport.createLinkedPair()
  await benchServer().connect(theirs)
  const client = new Client({ name: 'v1', version: '1' })
  await client.connect(mine)
  return { call: (text) => client.callTool({ name: 'echo', arguments: { text } }), close: () => client.close() }
}

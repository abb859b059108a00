import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'

export async function run(file: string): Promise<unknown[]> {
  const client = new Client({ name: 'example', version: '1.0.0' }, { capabilities: {} })
  await client.connect(new StdioClientTransport({ command: process.execPath, args: [file] }))
  const names: string[] = []
  const listed = await client.listTools()
  for (const { name } of listed.tools) names.push(name)
  const result = await client.callTool({ name: 'add', arguments: { a: 2, b: 2 } })
  await client.close()
  return [names, result.content]
}

import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'

export async function run(file: string): Promise<unknown[]> {
  const client = new Client({ name: 'example', version: '1.0.0' })
  const transport = new StdioClientTransport({ command: process.execPath, args: [file] })
  await client.connect(transport)

  const { tools } = await client.listTools()
  const prompts = (await client.listPrompts()).prompts
  const result = await client.callTool({ name: 'add', arguments: { a: 1, b: 2 } })
  const resource = await client.readResource({ uri: 'motd://today' })
  const prompt = await client.getPrompt({ name: 'greet', arguments: { name: 'Anna' } })
  const about = client.getServerVersion()
  await client.close()
  return [tools.map(({ name }) => name), prompts.map(({ name }) => name), result.content, resource.contents, prompt.messages, about?.name]
}

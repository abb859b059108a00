import { connect } from 'portico'

export async function run(file: string): Promise<unknown[]> {
  const client = await connect({ command: process.execPath, args: [file] }, { info: { name: 'example', version: '1.0.0' } })

  const tools = await client.tools().all()
  const prompts = await client.prompts().all()
  const result = await client.call('add', { a: 1, b: 2 })
  const resource = await client.read('motd://today')
  const prompt = await client.prompt('greet', { name: 'Anna' })
  const about = client.server.info
  await client.close()
  return [tools.map(({ name }) => name), prompts.map(({ name }) => name), result.content, resource.contents, prompt.messages, about?.name]
}

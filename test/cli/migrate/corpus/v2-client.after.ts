import { connect } from 'portico'

export async function run(file: string): Promise<unknown[]> {
  const client = await connect({ command: process.execPath, args: [file] }, { info: { name: 'example', version: '1.0.0' } })
  const names: string[] = []
  const listed = { tools: await client.tools().all() }
  for (const { name } of listed.tools) names.push(name)
  const result = await client.call('add', { a: 2, b: 2 })
  await client.close()
  return [names, result.content]
}

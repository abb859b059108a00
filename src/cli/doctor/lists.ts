/** Counts what a server offers. */

import type { Client } from '../../client/index.ts'
import { counted } from '../output/counted.ts'

export async function countOffering(client: Client): Promise<string> {
  const { tools, resources, prompts } = client.server.capabilities
  const counts: string[] = []
  if (tools) counts.push(counted((await client.tools().all()).length, 'tool'))
  if (resources) counts.push(counted((await client.resources().all()).length, 'resource'))
  if (prompts) counts.push(counted((await client.prompts().all()).length, 'prompt'))
  return counts.length === 0 ? 'nothing offered' : counts.join(', ')
}

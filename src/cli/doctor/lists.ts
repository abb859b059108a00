/** Everything a server has, counted. */

import type { Client } from '../../client/client.ts'

export async function listEverything(client: Client): Promise<string> {
  const { tools, resources, prompts } = client.server.capabilities
  const counts: string[] = []
  if (tools) counts.push(counted((await client.tools().all()).length, 'tool'))
  if (resources) counts.push(counted((await client.resources().all()).length, 'resource'))
  if (prompts) counts.push(counted((await client.prompts().all()).length, 'prompt'))
  return counts.length === 0 ? 'it offers nothing' : counts.join(', ')
}

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`

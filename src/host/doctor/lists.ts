/** Counts what a server offers. */

import { counted } from '../../base/text/counted.ts'
import type { Client } from '../../client/client.ts'

/**
 * What a server offers, in words: `7 tools, 1 prompt`.
 * @example
 * console.log(await countOffering(client))
 */
export async function countOffering(client: Client): Promise<string> {
  const { tools, resources, prompts } = client.server.capabilities
  const counts: string[] = []
  if (tools) counts.push(counted((await client.tools().all()).length, 'tool'))
  if (resources) counts.push(...(await countResources(client)))
  if (prompts) counts.push(counted((await client.prompts().all()).length, 'prompt'))
  return counts.length === 0 ? 'nothing offered' : counts.join(', ')
}

/** A server may offer templates only. */
async function countResources(client: Client): Promise<string[]> {
  const listed = (await client.resources().all()).length
  const templates = await client
    .resourceTemplates()
    .all()
    .then(({ length }) => length)
    // Not every server with resources knows templates.
    .catch(() => 0)
  return [
    ...(listed > 0 || templates === 0 ? [counted(listed, 'resource')] : []),
    ...(templates > 0 ? [counted(templates, 'resource template')] : []),
  ]
}

/** What this program does with a server. */

import type { Client } from 'portico/client'

/** Describes a server in a few lines. */
export async function describe(client: Client): Promise<string> {
  const { info } = client.server
  const tools = await client.tools().all()
  const lines = tools.map(({ name, description = '' }) => `  ${name}  ${description.split('\n')[0]}`)
  return [`${info.title ?? info.name} ${info.version}, revision ${client.revision}`, ...lines].join('\n')
}

/** Calls a tool and returns its text. Throws if the tool fails. */
export async function callForText(client: Client, tool: string, args: Record<string, unknown>): Promise<string> {
  const { content, isError } = await client.call(tool, args)
  const text = content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n')
  if (isError) throw new Error(`${tool} failed: ${text}`)
  return text
}

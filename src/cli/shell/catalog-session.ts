/** All servers of a host as one, by the names of its catalog. */

import type { Host } from '../../host/index.ts'
import { isWithheld, type Session } from '../connections/session.ts'
import { UsageError } from '../errors.ts'
import { isNotEnabled } from './servers.ts'

/** What is typed at the prompt is an act of the person, not of a model. */
const AS_PERSON = { as: 'person' } as const

export const catalogSession = (host: Host): Session => ({
  title: 'the connected servers',
  tools: async () => host.tools().map(({ exposed, definition }) => ({ ...definition, name: exposed })),
  // A tool that awaits approval has no catalog name yet, so its likely name is compared.
  withheldBy: (name) =>
    Object.keys(host.health()).find((id) => name.startsWith(`${id}__`) && isWithheld(host, id, name.slice(id.length + 2))),
  resources: async () => ({
    resources: host.resources().map(({ exposed, definition }) => ({ ...definition, uri: exposed })),
    resourceTemplates: host.templates().map(({ exposed, definition }) => ({ ...definition, uriTemplate: exposed })),
  }),
  prompts: async () => host.prompts().map(({ exposed, definition }) => ({ ...definition, name: exposed })),
  call: (name, args, options) => host.call(name, args, { ...options, ...AS_PERSON }),
  read: (uri, options) => host.read(uri, { ...options, ...AS_PERSON }),
  prompt: (name, args, options) => host.prompt(name, args, { ...options, ...AS_PERSON }),
})

/**
 * The catalog name of a tool that was typed as `server__tool`, as `server/tool`, or as `tool` if one server has it. A server that is not enabled yet is enabled first, with
 * its question.
 */
export async function toolNamed(host: Host, typed: string): Promise<string> {
  for (const [id, health] of Object.entries(host.health())) {
    const separator = ['__', '/'].find((each) => typed.startsWith(`${id}${each}`))
    if (separator === undefined) continue
    if (isNotEnabled(health)) await host.retry(id)
    const name = typed.slice(id.length + separator.length)
    return host.tools().find(({ server, definition }) => server === id && definition.name === name)?.exposed ?? typed.replace('/', '__')
  }
  const found = host.tools().filter(({ definition }) => definition.name === typed)
  if (found.length > 1 && !found.some(({ exposed }) => exposed === typed))
    throw new UsageError(`Several servers have a tool ${typed}`, `Write one of: ${found.map(({ exposed }) => exposed).join(', ')}`)
  return found.length === 1 ? (found[0]?.exposed ?? typed) : typed
}

/** Whether a word alone names a tool: `server__tool` or `server/tool`. */
export const isToolName = (host: Host, word: string): boolean =>
  host.tools().some(({ exposed, server, definition }) => word === exposed || word === `${server}/${definition.name}`)

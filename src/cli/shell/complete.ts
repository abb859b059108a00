/** Completes a line of the shell: commands, servers, tools, arguments and their values. No server is started or asked. */

import { isObject } from '../../base/json.ts'
import type { Host } from '../../host/index.ts'
import { isPlainName } from '../completion/candidates.ts'
import { SHELL_VERBS } from './help.ts'

const MAX_CANDIDATES = 200

/** Verbs that stand alone or end a line. */
const WITHOUT_ARGUMENTS: ReadonlySet<string> = new Set(['tour', 'again', 'resources', 'prompts', 'audit', 'clear', 'help', 'quit'])

/** @param portico completes the words of a command of portico */
export async function completeLine(
  line: string,
  host: Host,
  portico: (words: readonly string[]) => Promise<readonly string[]>,
): Promise<[candidates: string[], replaced: string]> {
  const words = line.trimStart().split(/\s+/)
  const typed = words.at(-1) ?? ''
  // Inside quotes there is text of the person.
  if (/["']/.test(line)) return [[], typed]
  const found = await candidatesFor(words, host, portico)
  return [[...new Set(found)].filter((each) => each.startsWith(typed)).slice(0, MAX_CANDIDATES), typed]
}

async function candidatesFor(
  words: readonly string[],
  host: Host,
  portico: (words: readonly string[]) => Promise<readonly string[]>,
): Promise<readonly string[]> {
  const [verb = '', name = ''] = words
  const at = words.length - 1
  if (at === 0) return SHELL_VERBS.map((each) => (WITHOUT_ARGUMENTS.has(each) ? each : `${each} `))
  switch (verb) {
    case 'enable':
    case 'approve':
      return at === 1 ? plain(Object.keys(host.health())) : []
    case 'tools':
      return at === 1 ? toolNames(host) : []
    case 'call': {
      if (at === 1) return toolNames(host).map((each) => `${each} `)
      const tool = host.tools().find(({ exposed }) => exposed === name)
      return tool ? argumentsOf(tool.definition.inputSchema.properties, words) : []
    }
    case 'read':
      return at === 1 ? plain(host.resources().map(({ exposed }) => exposed)) : []
    case 'get': {
      if (at === 1) return plain(host.prompts().map(({ exposed }) => exposed)).map((each) => `${each} `)
      const prompt = host.prompts().find(({ exposed }) => exposed === name)
      return argumentsOf(Object.fromEntries((prompt?.definition.arguments ?? []).map((each) => [each.name, {}])), words)
    }
    case 'demo':
      return at === 1 ? ['rogue'] : []
    case 'portico':
      return portico(words.slice(1))
    case 'servers':
    case 'grants':
    case 'policy':
    case 'pins':
    case 'skills':
    case 'secrets':
    case 'inbox':
    case 'tasks':
    case 'doctor':
      return portico(words)
    default:
      return []
  }
}

const plain = (names: readonly string[]): string[] => names.filter(isPlainName)

const toolNames = (host: Host): string[] => plain(host.tools().map(({ exposed }) => exposed))

/** `name=` for arguments that are not on the line yet, and the values of one that lists them. */
function argumentsOf(properties: unknown, words: readonly string[]): string[] {
  if (!isObject(properties)) return []
  const typed = words.at(-1) ?? ''
  const given = new Set(words.slice(2, -1).map((word) => word.split('=', 1)[0]))
  return Object.entries(properties).flatMap(([name, property]) => {
    if (!isPlainName(name) || given.has(name)) return []
    if (!typed.startsWith(`${name}=`)) return [`${name}=`]
    const { enum: choices, type } = isObject(property) ? property : {}
    const values = Array.isArray(choices) ? choices : type === 'boolean' ? [true, false] : []
    return plain(values.map(String)).map((value) => `${name}=${value}`)
  })
}

/** Completes a command line from the commands themselves and from files on this machine. No server is started or asked. */

import type { Command, Option } from 'commander'
import { LOG_LEVELS, SUPPORTED_REVISIONS } from '../../client/index.ts'
import { CLIENT_NAMES } from '../clients/known-clients.ts'

/** Names known on this machine. */
export interface KnownNames {
  /** The servers of `portico serve`. */
  bundled(): readonly string[]
  /** The configured servers. */
  servers(): Promise<readonly string[]>
  /** Approved tools of a configured server. */
  tools(server: string): Promise<readonly string[]>
  prompts(server: string): Promise<readonly string[]>
  resources(server: string): Promise<readonly string[]>
  /** The paths of approved skills of a configured server. */
  skills(server: string): Promise<readonly string[]>
  /** The ids of stored tasks. */
  tasks(): Promise<readonly string[]>
}

/** Other names would need quotes, and a name with a leading hyphen would be read as an option. */
const PLAIN = /^[A-Za-z0-9_][A-Za-z0-9_./:@+%-]{0,255}$/
const OPTION = /^--?[a-z][a-z-]{0,64}$/
const MAX_CANDIDATES = 1000

/** Whether a name can be offered: it needs no quotes, and is not read as an option. */
export const isPlainName = (name: string): boolean => PLAIN.test(name)

const OPTION_VALUES: Readonly<Record<string, () => readonly string[]>> = {
  '--client': () => CLIENT_NAMES,
  '--log': () => LOG_LEVELS,
  '--revision': () => SUPPORTED_REVISIONS.map(({ version }) => version),
}

/** @param words the words after `portico`; the last one is being typed */
export async function candidates(program: Command, words: readonly string[], names: KnownNames): Promise<string[]> {
  const typed = words.at(-1) ?? ''
  // After -- comes a command of the system, which the shell completes.
  if (words.slice(0, -1).includes('--')) return []
  const { command, operands, waiting } = locate(program, words.slice(0, -1))
  const offered = await offeredFor(command, operands, waiting, typed, names)
  const shape = typed.startsWith('-') ? OPTION : PLAIN
  return [...new Set(offered)].filter((each) => each.startsWith(typed) && shape.test(each)).slice(0, MAX_CANDIDATES)
}

interface Place {
  command: Command
  /** Its arguments so far. */
  operands: string[]
  /** The option whose value is being typed. */
  waiting: Option | undefined
}

function locate(program: Command, words: readonly string[]): Place {
  let command = program
  let waiting: Option | undefined
  const operands: string[] = []
  for (const word of words) {
    if (waiting) {
      waiting = undefined
    } else if (word.startsWith('-')) {
      const option = command.options.find(({ short, long }) => short === word || long === word)
      waiting = option?.required ? option : undefined
    } else {
      const inner: Command | undefined = operands.length === 0 ? command.commands.find((each) => each.name() === word) : undefined
      if (inner) command = inner
      else operands.push(word)
    }
  }
  return { command, operands, waiting }
}

async function offeredFor(
  command: Command,
  operands: readonly string[],
  waiting: Option | undefined,
  typed: string,
  names: KnownNames,
): Promise<readonly string[]> {
  if (waiting) return OPTION_VALUES[waiting.long ?? '']?.() ?? []
  if (typed.startsWith('-')) return [...command.options.flatMap(({ long }) => (long === undefined ? [] : [long])), '--help']
  if (command.commands.length > 0 && operands.length === 0)
    return command.commands.map((each) => each.name()).filter((name) => !name.startsWith('_'))
  return operandsFor(pathOf(command), operands, typed, names)
}

const pathOf = (command: Command): string => (command.parent?.parent ? `${pathOf(command.parent)} ${command.name()}` : command.name())

async function operandsFor(path: string, operands: readonly string[], typed: string, names: KnownNames): Promise<readonly string[]> {
  const [server] = operands
  switch (path) {
    case 'call':
    case 'skills show':
    case 'skills read':
    case 'get': {
      if (operands.length > 0) return []
      const slash = typed.indexOf('/')
      if (slash < 0) return (await names.servers()).map((name) => `${name}/`)
      const id = typed.slice(0, slash)
      const known = path === 'call' ? names.tools(id) : path === 'get' ? names.prompts(id) : names.skills(id)
      return (await known).map((name) => `${id}/${name}`)
    }
    case 'tools':
      return server === undefined ? names.servers() : operands.length === 1 ? names.tools(server) : []
    case 'read':
      return server === undefined ? names.servers() : operands.length === 1 ? names.resources(server) : []
    case 'record':
      return operands.length === 1 ? names.servers() : []
    case 'serve':
      return operands.length === 0 ? names.bundled() : []
    case 'tasks show':
    case 'tasks wait':
    case 'tasks cancel':
      return operands.length === 0 ? names.tasks() : []
    case 'completion':
      return operands.length === 0 ? ['bash', 'zsh', 'fish'] : []
    case 'resources':
    case 'prompts':
    case 'run':
    case 'inspect':
    case 'doctor':
    case 'servers remove':
    case 'servers login':
    case 'servers logout':
    case 'skills list':
    case 'skills approve':
    case 'pins list':
    case 'pins diff':
    case 'pins accept':
      return operands.length === 0 ? names.servers() : []
    default:
      return []
  }
}

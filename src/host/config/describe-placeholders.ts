/** Describes which of the person's values a server will receive at start. The file of a project may send any variable anywhere. */

import type { ServerTransport } from '../model/server-spec.ts'
import { type Placeholder, placeholdersIn } from '../server-command/placeholder.ts'

/**
 * One line per placeholder: `your environment variable AWS_KEY goes into the header X-Key`.
 * @param given the inputs that the person entered so far, without secrets
 */
export const describePlaceholders = (transport: ServerTransport, given: ReadonlyMap<string, string> = new Map()): string[] => [
  ...new Set(
    placeholdersIn({ transport }).map(({ where, ...placeholder }) => {
      const value = placeholder.kind === 'input' ? given.get(placeholder.name) : undefined
      const what = value === undefined ? WORDS[placeholder.kind](placeholder) : `your input for ${placeholder.name} (${value})`
      return `${what} goes into ${placeOf(where)}`
    }),
  ),
]

const WORDS: Record<Placeholder['kind'], (placeholder: Placeholder) => string> = {
  env: ({ name, fallback }) => `your environment variable ${name}${fallback === undefined ? '' : ` (or ${fallback} if it is not set)`}`,
  secret: ({ name }) => `your secret ${name}`,
  input: ({ name }) => `your input for ${name}`,
}

function placeOf(where: string): string {
  const [, argument] = /^args\[(\d+)\]$/.exec(where) ?? []
  if (argument !== undefined) return `argument ${Number(argument) + 1}`
  const [table = '', ...name] = where.split('.')
  if (table === 'env') return `its environment variable ${name.join('.')}`
  if (table === 'headers') return `the header ${name.join('.')}`
  return PLACES[table] ?? where
}

const PLACES: Readonly<Record<string, string>> = { command: 'the command', cwd: 'its working folder', url: 'the address' }

/** What a server will be given of the person's own when it is started, in words: a file of a project may send anything anywhere. */

import { type Placeholder, placeholdersIn } from '../launch/placeholder.ts'
import type { ServerTransport } from '../model/server-spec.ts'

/**
 * One for each placeholder: `your environment variable AWS_KEY goes into the header X-Key`.
 * @param given what the person gave for inputs so far, without secrets
 */
export const fillsOf = (transport: ServerTransport, given: ReadonlyMap<string, string> = new Map()): string[] => [
  ...new Set(
    placeholdersIn({ transport }).map(({ where, ...placeholder }) => {
      const value = placeholder.kind === 'input' ? given.get(placeholder.name) : undefined
      const what = value === undefined ? WORDS[placeholder.kind](placeholder) : `what you gave for ${placeholder.name} (${value})`
      return `${what} goes into ${placeOf(where)}`
    }),
  ),
]

const WORDS: Record<Placeholder['kind'], (placeholder: Placeholder) => string> = {
  env: ({ name, fallback }) => `your environment variable ${name}${fallback === undefined ? '' : `, or ${fallback} where it is not set,`}`,
  secret: ({ name }) => `your secret ${name}`,
  input: ({ name }) => `what you give for ${name}`,
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

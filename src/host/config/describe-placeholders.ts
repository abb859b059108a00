/** Describes which of the person's values a server will receive at start, because the file of a project may send any variable anywhere. */

import { isSecretName } from '../../base/text/redact.ts'
import type { ServerTransport } from '../model/server-spec.ts'
import { type Placeholder, placeholdersIn } from '../server-command/placeholder.ts'

/**
 * One line per placeholder: `your environment variable REGION (= eu) goes into argument 3`. The values of secrets, and of environment
 * variables for an address or a header, are left out: they decide nothing about what runs.
 * @param given the inputs that the person entered so far, without secrets
 * @param env Default: the environment of this process
 */
export const describePlaceholders = (
  transport: ServerTransport,
  given: ReadonlyMap<string, string> = new Map(),
  env: Readonly<Record<string, string | undefined>> = process.env,
): string[] => [
  ...new Set(
    placeholdersIn({ transport }).map(({ where, ...placeholder }) => {
      return `${WORDS[placeholder.kind](placeholder, given, transport.type === 'stdio' ? env : {})} goes into ${placeOf(where)}`
    }),
  ),
]

type Words = (placeholder: Placeholder, given: ReadonlyMap<string, string>, env: Readonly<Record<string, string | undefined>>) => string

const WORDS: Record<Placeholder['kind'], Words> = {
  env: ({ name, fallback }, _given, { [name]: value }) => {
    const words = `your environment variable ${name}`
    // The fallback also replaces an empty value.
    if (value !== undefined && (value !== '' || fallback === undefined) && !isSecretName(name)) return `${words} (= ${value})`
    return fallback === undefined ? words : `${words} (or ${fallback} if it is not set)`
  },
  secret: ({ name }) => `your secret ${name}`,
  input: ({ name }, given) => {
    const value = given.get(name)
    return value === undefined ? `your input for ${name}` : `your input for ${name} (${value})`
  },
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

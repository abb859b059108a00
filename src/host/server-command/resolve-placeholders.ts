/** Replaces placeholders with their values when a server is started, not earlier. */

import { McpError } from '../../protocol/errors.ts'
import type { ServerTransport } from '../model/server-spec.ts'
import { mapTexts, type Placeholder, partsOf, placeholderText, textsOf } from './placeholder.ts'

export interface Resolvers {
  /** Reads a secret from the vault. */
  secret?: (name: string) => Promise<string | undefined> | string | undefined
  /** Reads an environment variable of the host. Default: of this process. */
  env?: (name: string) => string | undefined
  /** Asks the person for an input. Undefined: no answer. */
  input?: (id: string) => Promise<string | undefined> | string | undefined
  /** Called with every value before it is used, so that it can be redacted from logs. */
  onValue?: (value: string, placeholder: Placeholder) => void
}

/**
 * Copies a transport with the values filled in. Each placeholder is resolved once, even if it is used several times. Values are used
 * literally: a placeholder inside a value is text. ERR_SECRET, without the value, if one is missing or not allowed where it is used.
 */
export async function resolveTransport<W extends ServerTransport>(transport: W, resolvers: Resolvers): Promise<W> {
  const values = new Map<string, string>()
  for (const { where, text } of textsOf(transport)) {
    for (const part of partsOf(text)) {
      if (!('placeholder' in part)) continue
      const { placeholder } = part
      const key = placeholderText(placeholder)
      if (!values.has(key)) values.set(key, await valueFor(placeholder, where, resolvers))
    }
  }
  const resolved = mapTexts(transport, (text, where) => {
    const filled = partsOf(text).map((part) =>
      'placeholder' in part ? (values.get(placeholderText(part.placeholder)) as string) : part.literal,
    )
    const whole = filled.join('')
    refuseIfUnfit(whole, where, text)
    return whole
  })
  return resolved as W
}

/** Copies a transport with the values that `known` returns. Other placeholders stay. For inspecting a command before it is approved. */
export function fillKnown<W extends ServerTransport>(transport: W, known: (placeholder: Placeholder) => string | undefined): W {
  const filled = (text: string): string =>
    partsOf(text)
      .map((part) => ('placeholder' in part ? (known(part.placeholder) ?? placeholderText(part.placeholder)) : part.literal))
      .join('')
  return mapTexts(transport, filled) as W
}

/** The value of `${env:NAME}`: the variable, or the fallback if the variable is not set or empty. */
export const envValue = (
  { name, fallback }: Pick<Placeholder, 'name' | 'fallback'>,
  env: (name: string) => string | undefined = (variable) => process.env[variable],
): string | undefined => {
  const value = env(name)
  return isMissing(value) && fallback !== undefined ? fallback : value
}

/** As in a shell, `:-` also replaces an empty variable. */
const isMissing = (value: string | undefined): boolean => value === undefined || value === ''

async function valueFor(placeholder: Placeholder, where: string, resolvers: Resolvers): Promise<string> {
  const { kind, name, fallback } = placeholder
  const { secret, env = (variable: string) => process.env[variable], input, onValue } = resolvers
  let value: string | undefined
  if (kind === 'env') value = env(name)
  else if (kind === 'secret') value = await secret?.(name)
  else value = await input?.(name)
  // A fallback is plain text in the file, so onValue is not called.
  if (isMissing(value) && fallback !== undefined) return fallback
  if (value === undefined) throw new McpError('ERR_SECRET', `\${${kind}:${name}}, used in ${where}, ${MISSING[kind]}`)
  onValue?.(value, placeholder)
  return value
}

const MISSING = {
  secret: 'is not in the vault',
  env: 'is not set in the environment',
  input: 'was not entered',
} satisfies Record<Placeholder['kind'], string>

/** Checks here because a later failure would have the value in its message. */
function refuseIfUnfit(value: string, where: string, text: string): void {
  const names = partsOf(text).flatMap((part) => ('placeholder' in part ? [`\${${part.placeholder.kind}:${part.placeholder.name}}`] : []))
  if (names.length === 0) return
  const unfit = where.startsWith('headers.') ? !FIT_HEADER.test(value) : value.includes('\0')
  if (unfit) throw new McpError('ERR_SECRET', `The value of ${names.join(' and ')} has characters that are not allowed in ${where}`)
  if (where === 'url' && !URL.canParse(value)) {
    throw new McpError('ERR_SECRET', `The server URL is invalid with the value of ${names.join(' and ')}`)
  }
}

const FIT_HEADER = /^[\t\x20-\x7e\x80-\xff]*$/

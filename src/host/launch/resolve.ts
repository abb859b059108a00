/** Placeholders to values, at the moment a server is started and not before. */

import { McpError } from '../../protocol/errors.ts'
import type { ServerTransport } from '../model/server-spec.ts'
import { mapTexts, type Placeholder, partsOf, placeholderText, textsOf } from './placeholder.ts'

export interface Resolvers {
  /** From the vault. */
  secret?: (name: string) => Promise<string | undefined> | string | undefined
  /** From the environment of the host. The default is that of this process. */
  env?: (name: string) => string | undefined
  /** From the person. Undefined when they did not say. */
  input?: (id: string) => Promise<string | undefined> | string | undefined
  /** Every value, before anything is made of it: for whoever keeps values out of logs. */
  onValue?: (value: string, placeholder: Placeholder) => void
}

/**
 * The same way with real values. Each placeholder is asked for once, however often it is used, and what comes is taken as
 * it is: a placeholder in a value is text. ERR_SECRET, without the value, when one is missing or cannot stand where it is used.
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

/**
 * The same way with the values that `known` has; other placeholders stay as they are written. For looking at what a
 * command names, before and after a person was asked about it.
 */
export function fillKnown<W extends ServerTransport>(transport: W, known: (placeholder: Placeholder) => string | undefined): W {
  const filled = (text: string): string =>
    partsOf(text)
      .map((part) => ('placeholder' in part ? (known(part.placeholder) ?? placeholderText(part.placeholder)) : part.literal))
      .join('')
  return mapTexts(transport, filled) as W
}

/** What an `${env:NAME}` stands for, with what stands in for a variable that is not set or empty. */
export const envValue = (
  { name, fallback }: Pick<Placeholder, 'name' | 'fallback'>,
  env: (name: string) => string | undefined = (variable) => process.env[variable],
): string | undefined => {
  const value = env(name)
  return isMissing(value) && fallback !== undefined ? fallback : value
}

/** As in a shell, where `:-` stands in for a variable that is empty as well. */
const isMissing = (value: string | undefined): boolean => value === undefined || value === ''

async function valueFor(placeholder: Placeholder, where: string, resolvers: Resolvers): Promise<string> {
  const { kind, name, fallback } = placeholder
  const { secret, env = (variable: string) => process.env[variable], input, onValue } = resolvers
  let value: string | undefined
  if (kind === 'env') value = env(name)
  else if (kind === 'secret') value = await secret?.(name)
  else value = await input?.(name)
  // What the file itself has is nobody's secret.
  if (isMissing(value) && fallback !== undefined) return fallback
  if (value === undefined) throw new McpError('ERR_SECRET', `\${${kind}:${name}}, which is used in ${where}, ${MISSING[kind]}`)
  onValue?.(value, placeholder)
  return value
}

const MISSING = {
  secret: 'is not in the vault',
  env: 'is not set in the environment',
  input: 'was not given',
} satisfies Record<Placeholder['kind'], string>

/** What would fail later fails later with the value in the message. */
function refuseIfUnfit(value: string, where: string, text: string): void {
  const names = partsOf(text).flatMap((part) => ('placeholder' in part ? [`\${${part.placeholder.kind}:${part.placeholder.name}}`] : []))
  if (names.length === 0) return
  const unfit = where.startsWith('headers.') ? !FIT_HEADER.test(value) : value.includes('\0')
  if (unfit) throw new McpError('ERR_SECRET', `The value of ${names.join(' and ')} has characters that cannot stand in ${where}`)
  if (where === 'url' && !URL.canParse(value)) {
    throw new McpError('ERR_SECRET', `With the value of ${names.join(' and ')} the url of the server is none`)
  }
}

const FIT_HEADER = /^[\t\x20-\x7e\x80-\xff]*$/

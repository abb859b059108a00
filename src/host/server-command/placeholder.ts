/**
 * Parses placeholders in the texts of a configuration: `${secret:NAME}`, `${env:NAME}`, `${env:NAME:-fallback}` and `${input:NAME}`.
 * `${$}` is a literal dollar sign, for text that only looks like a placeholder.
 */

import type { ServerSpec, ServerTransport } from '../model/server-spec.ts'

export interface Placeholder {
  kind: 'secret' | 'env' | 'input'
  name: string
  /** The value to use if the variable is not set. */
  fallback?: string
}

export type Part = { literal: string; start: number; end: number } | { placeholder: Placeholder; start: number; end: number }

// Every repetition is bounded and stops at a brace, so that matching takes linear time.
const PATTERN = /\$\{(?:\$|(secret|env|input):([^\s{}:$]{1,128})(?::-([^{}]{0,4096}))?)\}/g

export const placeholderText = ({ kind, name, fallback }: Placeholder): string =>
  `\${${kind}:${name}${fallback === undefined ? '' : `:-${fallback}`}}`

/** Escapes text so that nothing in it is read as a placeholder. */
export const escapeText = (text: string): string => text.replace(PATTERN, (match) => `\${$}${match.slice(1)}`)

/** Splits a text into literals and placeholders, in order. Each `${$}` is a separate literal. */
export function partsOf(text: string): Part[] {
  const parts: Part[] = []
  let end = 0
  const literal = (from: number, to: number): void => {
    if (to > from) parts.push({ literal: text.slice(from, to), start: from, end: to })
  }
  for (const match of text.matchAll(PATTERN)) {
    const [whole, kind, name, fallback] = match
    literal(end, match.index)
    const place = { start: match.index, end: match.index + whole.length }
    if (kind === undefined || name === undefined) parts.push({ literal: '$', ...place })
    else parts.push({ placeholder: { kind: kind as Placeholder['kind'], name, fallback }, ...place })
    end = place.end
  }
  literal(end, text.length)
  return parts
}

export interface PlacedText {
  /** `command`, `args[0]`, `env.TOKEN`, `cwd`, `url`, `headers.Authorization`. */
  where: string
  text: string
}

/** Every text of a transport that may contain placeholders. */
export function textsOf(transport: ServerTransport): PlacedText[] {
  switch (transport.type) {
    case 'stdio':
      return [
        { where: 'command', text: transport.command },
        ...transport.args.map((text, i) => ({ where: `args[${i}]`, text })),
        ...Object.entries(transport.env).map(([name, text]) => ({ where: `env.${name}`, text })),
        ...(transport.cwd === undefined ? [] : [{ where: 'cwd', text: transport.cwd }]),
      ]
    case 'http':
      return [
        { where: 'url', text: transport.url },
        ...Object.entries(transport.headers).map(([name, text]) => ({ where: `headers.${name}`, text })),
      ]
    case 'memory':
      return []
  }
}

/** Copies a transport with every text replaced. */
export function mapTexts(transport: ServerTransport, change: (text: string, where: string) => string): ServerTransport {
  const table = (values: Readonly<Record<string, string>>, place: string): Record<string, string> =>
    Object.fromEntries(Object.entries(values).map(([name, text]) => [name, change(text, `${place}.${name}`)]))
  switch (transport.type) {
    case 'stdio':
      return {
        ...transport,
        command: change(transport.command, 'command'),
        args: transport.args.map((text, i) => change(text, `args[${i}]`)),
        env: table(transport.env, 'env'),
        cwd: transport.cwd === undefined ? undefined : change(transport.cwd, 'cwd'),
      }
    case 'http':
      return { ...transport, url: change(transport.url, 'url'), headers: table(transport.headers, 'headers') }
    case 'memory':
      return transport
  }
}

export interface PlacedPlaceholder extends Placeholder {
  where: string
}

/** The placeholders of a server and where each is used, for the question that starts it. */
export const placeholdersIn = (spec: Pick<ServerSpec, 'transport'>): PlacedPlaceholder[] =>
  textsOf(spec.transport).flatMap(({ where, text }) =>
    partsOf(text).flatMap((part) => ('placeholder' in part ? [{ ...part.placeholder, where }] : [])),
  )

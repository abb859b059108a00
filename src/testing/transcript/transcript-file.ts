/** The recording format: a heading line, then one line per message. */

import { isObject } from '../../base/json.ts'
import { redact } from '../../base/text/redact.ts'
import type { TappedMessage } from '../../client/tap-target.ts'
import { McpError } from '../../protocol/errors.ts'

/** The first line of a recording. */
export interface Heading {
  portico: 'transcript'
  format: 1
  /** Describes the recording, for people. */
  target: string
  /** ISO 8601. */
  at: string
}

/** A recording of the messages of one connection. */
export interface Transcript {
  heading: Heading
  messages: TappedMessage[]
}

/**
 * The first line of a recording.
 * @example
 * await writeFile('run.jsonl', headingLine('notes', new Date()))
 */
export const headingLine = (target: string, at: Date): string =>
  `${JSON.stringify({ portico: 'transcript', format: 1, target, at: at.toISOString() } satisfies Heading)}\n`

/**
 * The line of a message, without values that look like secrets.
 * @example
 * await appendFile('run.jsonl', messageLine(passed))
 */
export const messageLine = ({ from, message, atMs }: TappedMessage): string =>
  `${JSON.stringify({ from, atMs: Math.round(atMs * 10) / 10, message: withoutSecrets(message) })}\n`

/** Keeps progress tokens, which are not secrets and are needed to play a recording. */
export function withoutSecrets(message: unknown): unknown {
  const safe = redact(message)
  if (!isObject(message) || !isObject(safe) || !isObject(message.params) || !isObject(safe.params)) return safe
  keepToken(message.params, safe.params)
  if (isObject(message.params._meta) && isObject(safe.params._meta)) keepToken(message.params._meta, safe.params._meta)
  return safe
}

function keepToken(from: Record<string, unknown>, to: Record<string, unknown>): void {
  const { progressToken } = from
  if (typeof progressToken === 'number' || typeof progressToken === 'string') to.progressToken = progressToken
}

/**
 * Reads the text of a recording.
 * @param where the file, for errors
 * @throws McpError ERR_CONFIG with the line number
 * @example
 * const { heading } = parseTranscript(text, 'run.jsonl')
 */
export function parseTranscript(text: string, where: string): Transcript {
  const lines = text.split('\n')
  const heading = parsed(lines[0] ?? '', 1, where)
  if (!isObject(heading) || heading.portico !== 'transcript' || heading.format !== 1)
    throw new McpError('ERR_CONFIG', `${where} is not a recording of "portico record": invalid first line`)
  for (const name of ['target', 'at'] as const)
    if (typeof heading[name] !== 'string') throw new McpError('ERR_CONFIG', `${where}, line 1: expected a text as "${name}"`)
  const messages = lines.slice(1).flatMap((line, i) => (line.trim() === '' ? [] : [passedIn(parsed(line, i + 2, where), i + 2, where)]))
  return { heading: heading as unknown as Heading, messages }
}

function parsed(line: string, number: number, path: string): unknown {
  try {
    return JSON.parse(line)
  } catch (cause) {
    throw new McpError('ERR_CONFIG', `${path}, line ${number}: expected JSON`, { cause })
  }
}

function passedIn(value: unknown, number: number, path: string): TappedMessage {
  if (!isObject(value) || (value.from !== 'client' && value.from !== 'server') || value.message === undefined)
    throw new McpError('ERR_CONFIG', `${path}, line ${number}: expected {"from": "client" or "server", "message": ...}`)
  return { from: value.from, message: value.message, atMs: typeof value.atMs === 'number' ? value.atMs : 0 }
}

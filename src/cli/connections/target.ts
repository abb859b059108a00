/** Parses SERVER: a URL, the name of a configured server, or a command after `--`. */

import { UsageError } from '../errors.ts'

export type TargetName =
  | { kind: 'url'; url: string }
  | { kind: 'command'; command: string; args: readonly string[] }
  | { kind: 'server'; id: string }

const isUrl = (text: string): boolean => /^https?:\/\//i.test(text)

/** Splits the words into the server and the remaining arguments. */
export function parseTarget(
  words: readonly string[],
  after: readonly string[] | undefined,
): { target: TargetName; rest: readonly string[] } {
  if (after !== undefined) return { target: commandIn(after), rest: words }
  const [first, ...rest] = words
  if (first === undefined) {
    throw new UsageError('Missing server', 'Give a URL, the name of a configured server, or a command after --')
  }
  return { target: isUrl(first) ? { kind: 'url', url: first } : { kind: 'server', id: first }, rest }
}

/**
 * The same for `SERVER/NAME`, as in `notes/add`. With a URL or a command the name is a separate word.
 * @param what `tool` or `prompt`
 */
export function parseTargetAndName(
  words: readonly string[],
  after: readonly string[] | undefined,
  what: string,
): { target: TargetName; name: string; rest: readonly string[] } {
  const [first, ...others] = words
  const slash = first?.indexOf('/') ?? -1
  // A server name has no slash; a tool name may have one.
  if (after === undefined && first !== undefined && !isUrl(first) && slash > 0) {
    return { target: { kind: 'server', id: first.slice(0, slash) }, name: first.slice(slash + 1), rest: others }
  }
  const { target, rest } = parseTarget(words, after)
  const [name, ...more] = rest
  const [, server, exposed] = /^(.+?)__(.+)$/s.exec(first ?? '') ?? []
  // The name as models see it.
  if (target.kind === 'server' && server !== undefined && exposed !== undefined && (name === undefined || isAssignment(name)))
    return { target: { kind: 'server', id: server }, name: exposed, rest }
  if (name === undefined || isAssignment(name)) {
    throw new UsageError(
      `Missing ${what}`,
      `Write SERVER/${what.toUpperCase()}, or URL ${what.toUpperCase()}, or ${what.toUpperCase()} -- COMMAND`,
    )
  }
  return { target, name, rest: more }
}

/** `key=value` or `key:=json`. */
export const isAssignment = (word: string): boolean => /^[^=]+:?=/.test(word)

function commandIn(after: readonly string[]): TargetName {
  const [command, ...args] = after
  if (command === undefined) throw new UsageError('Missing command after --', 'Give the program that runs the server, and its arguments')
  return { kind: 'command', command, args }
}

export function describeTarget(target: TargetName): string {
  switch (target.kind) {
    case 'url':
      return target.url
    case 'command':
      return [target.command, ...target.args].join(' ')
    case 'server':
      return target.id
  }
}

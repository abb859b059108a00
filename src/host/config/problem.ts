/** Problems in a configuration file: where, and what. A problem never quotes a value. */

import { counted } from '../../base/text/counted.ts'
import { redactText } from '../../base/text/redact.ts'

export interface ConfigProblem {
  file: string
  /** The position: a path such as `mcpServers.github.env`, or a line. Empty for the file as a whole. */
  where: string
  text: string
}

/** Thrown by the readers of an entry. The entry is skipped; the others are read. */
export class Refused extends Error {
  override readonly name = 'Refused'
  readonly where: string

  constructor(where: string, text: string) {
    super(text)
    this.where = where
  }
}

export interface Problems {
  readonly list: ConfigProblem[]
  add(where: string, text: string): void
}

/** Collects the problems of one file. After `max` problems, the others are only counted. */
export function collectProblems(file: string, max: number): Problems {
  const list: ConfigProblem[] = []
  let passedOver = 0
  return {
    list,
    add: (where, text) => {
      if (list.length < max) return void list.push({ file, where, text })
      passedOver++
      list[max] = { file, where: '', text: `${counted(passedOver, 'more problem is', 'more problems are')} not listed (maxProblems)` }
    },
  }
}

const MAX_NAME_CHARS = 80

/** Makes a name from a file safe to show: one line, limited length, secrets redacted. */
export function safeText(name: string): string {
  const short = name.length > MAX_NAME_CHARS ? `${name.slice(0, MAX_NAME_CHARS)}…` : name
  return redactText(short.replace(INVISIBLE, '\u{fffd}'))
}

const INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu

/** The path of a member: `where.name`. */
export const within = (where: string, name: string): string => (where === '' ? safeText(name) : `${where}.${safeText(name)}`)

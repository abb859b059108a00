/** What is wrong with a configuration: where, and in words. Nothing of what stands there as a value is ever repeated. */

import { redactText } from '../../base/text/redact.ts'

export interface ConfigProblem {
  file: string
  /** A place in the file: a path such as `mcpServers.github.env`, or a line. Empty for the file as a whole. */
  where: string
  text: string
}

/** Thrown while one entry is read, and caught where the entry begins: it costs that entry and no other. */
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

/** Of one file. What comes after `max` is counted and not kept. */
export function problemsOf(file: string, max: number): Problems {
  const list: ConfigProblem[] = []
  let passedOver = 0
  return {
    list,
    add: (where, text) => {
      if (list.length < max) return void list.push({ file, where, text })
      passedOver++
      list[max] = { file, where: '', text: `There are ${passedOver} more problems (maxProblems)` }
    },
  }
}

const MAX_NAME_CHARS = 80

/** A name out of a file, as it may be shown: on one line, not too long, and not when it is a secret that went astray. */
export function shown(name: string): string {
  const short = name.length > MAX_NAME_CHARS ? `${name.slice(0, MAX_NAME_CHARS)}…` : name
  return redactText(short.replace(INVISIBLE, '\u{fffd}'))
}

const INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu

/** The place of a member inside of another place. */
export const within = (where: string, name: string): string => (where === '' ? shown(name) : `${where}.${shown(name)}`)

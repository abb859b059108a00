/** One line of a question, as a person reads it. */

import { PROJECT_SAYS } from '../../model/rule.ts'

/** Who wrote the text: `theirs` was written by a server, a file or a model, everything else by the host. */
export type Tone = 'title' | 'plain' | 'theirs' | 'warning' | 'muted'

/** What a line says. Code selects lines by kind: labels are wording, and may contain names that others chose. */
export type LineKind =
  | 'title'
  | 'server'
  | 'location'
  | 'requester'
  | 'reason'
  | 'warning'
  | 'command'
  | 'address'
  | 'argument'
  | 'item'
  | 'difference'
  | 'message'
  | 'budget'
  | 'detail'
  | 'hidden'
  | 'scopes'
  | 'expiry'

/** One line of a question. */
export interface QuestionLine {
  kind: LineKind
  /** Empty for the title. */
  label: string
  /** May have several lines. A renderer must mark each of them, so that none passes for a line of the host. */
  text: string
  tone: Tone
  /** How many characters the line does not show. `describeQuestion(question, { isWhole: true })` shows them. */
  folded?: number
  /**
   * The host wrote this JSON, so a renderer may lay it out in other lines without loss. Never set for foreign text, in which a
   * key may occur twice.
   */
  isJson?: true
  /** What the server claims about an item, in words of the host: `says it only reads`. */
  claim?: string
}

/** A line in the words of the host. */
export const line = (label: string, text: string, tone: Tone = 'plain', kind: LineKind = 'detail'): QuestionLine => ({
  kind,
  label,
  text,
  tone,
})

/** A reason, in the words of the host or of a project. */
export const reasonLine = (label: string, text: string): QuestionLine =>
  line(label, text, text.startsWith(PROJECT_SAYS) ? 'theirs' : 'plain', 'reason')

/** A line of foreign text. Empty when there is none. */
export const theirs = (label: string, text: string | undefined, kind: LineKind = 'detail'): QuestionLine[] =>
  text === undefined ? [] : [{ kind, label, text, tone: 'theirs' }]

export const warning = (text: string, label = 'warning'): QuestionLine => ({ kind: 'warning', label, text, tone: 'warning' })

/** A foreign value: a string as it is, anything else as JSON. */
export const valueLine = (label: string, value: unknown, kind: LineKind = 'detail'): QuestionLine =>
  typeof value === 'string'
    ? { kind, label, text: value, tone: 'theirs' }
    : { kind, label, text: JSON.stringify(value, undefined, 2) ?? 'nothing', tone: 'theirs', isJson: true }

/**
 * A foreign name among words of the host. Anything but one plain word is quoted, so that a name cannot continue the sentence
 * of the host. A name with `=` is quoted too: in a list of arguments it could look like a value.
 *
 * @example
 * nameText('notes') // 'notes'
 * nameText('notes (safe)') // '"notes (safe)"'
 */
export const nameText = (name: string): string => (PLAIN_NAME.test(name) ? name : JSON.stringify(name))

const PLAIN_NAME = /^[\p{L}\p{N}_.~:/?#@!$&'()*+,;%[\]{}|-]+$/u

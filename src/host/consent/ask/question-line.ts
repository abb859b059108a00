/** One detail of a question, as a person is shown it. */

/** `theirs` was written by a server, a file or a model; everything else by the host. */
export type Tone = 'title' | 'plain' | 'theirs' | 'warning' | 'muted'

export interface QuestionLine {
  /** What it is; empty for the title. */
  label: string
  /** May have several lines; whoever shows it keeps them apart from the labels of others. */
  text: string
  tone: Tone
  /** How many characters of it are not shown here. `describeQuestion(question, { isWhole: true })` shows them. */
  folded?: number
  /** JSON that the host wrote, which may be laid out in other lines without a loss. Text of others never is: a key may stand in it twice. */
  isJson?: true
}

export const line = (label: string, text: string, tone: Tone = 'plain'): QuestionLine => ({ label, text, tone })

export const theirs = (label: string, text: string | undefined): QuestionLine[] =>
  text === undefined ? [] : [{ label, text, tone: 'theirs' }]

/** A value of others: a text as it is, anything else as JSON. */
export const valueLine = (label: string, value: unknown): QuestionLine =>
  typeof value === 'string'
    ? { label, text: value, tone: 'theirs' }
    : { label, text: JSON.stringify(value, undefined, 2) ?? 'nothing', tone: 'theirs', isJson: true }

/** A name that others chose, among words of the host: quoted unless it is one plain word, so that it cannot go on with words of its own. */
export const nameText = (name: string): string => (PLAIN_NAME.test(name) ? name : JSON.stringify(name))

const PLAIN_NAME = /^[\p{L}\p{N}_.~:/?#@!$&'()*+,;=%[\]{}|-]+$/u

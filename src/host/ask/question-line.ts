/** One detail of a question, as a person is shown it. */

/** `theirs` was written by a server, or by the model; everything else by the host. */
export type Tone = 'title' | 'plain' | 'theirs' | 'warning' | 'muted'

export interface QuestionLine {
  /** What it is; empty for the title. */
  label: string
  /** May have several lines; whoever shows it keeps them apart from the labels of others. */
  text: string
  tone: Tone
}

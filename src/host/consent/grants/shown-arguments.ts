/** The arguments of a grant in words, for a person who looks through their grants. */

import { redactedPreview } from '../../../base/text/redacted-preview.ts'
import { nameText } from '../ask/question-line.ts'

/** Enough to recognise a call. */
const MAX_CHARS = 1_000

/** `to = "bob@example.com", text = "hi"`. Without secrets, as in the audit log. @param scrub removes registered secrets */
export function shownArguments(args: Readonly<Record<string, unknown>>, scrub: (text: string) => string): string {
  const { value, isCut } = redactedPreview(args, MAX_CHARS, scrub)
  const text = Object.entries(value as Record<string, unknown>)
    .map(([name, each]) => `${nameText(name)} = ${JSON.stringify(each)}`)
    .join(', ')
  if (text === '') return 'no arguments'
  return isCut || text.length > MAX_CHARS ? `${text.slice(0, MAX_CHARS)}…` : text
}

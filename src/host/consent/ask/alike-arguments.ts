/** Warns about arguments of one call whose names look alike: a person cannot tell which of them counts. */

import { skeleton } from '../../../base/text/confusable.ts'
import { nameText, type QuestionLine, warning } from './question-line.ts'

/** More warnings would hide the question. */
const MAX_WARNINGS = 3

export function alikeArguments(args: Readonly<Record<string, unknown>>): QuestionLine[] {
  const seen = new Map<string, string>()
  const found: QuestionLine[] = []
  for (const name of Object.keys(args)) {
    const look = skeleton(name)
    const other = seen.get(look)
    if (other === undefined) seen.set(look, name)
    else if (found.length < MAX_WARNINGS) found.push(warning(`The arguments ${nameText(other)} and ${nameText(name)} look alike`))
  }
  return found
}

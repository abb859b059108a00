/** Splits a typed line into words, with the quotes and backslashes of a shell and none of its expansions. */

import { UsageError } from './errors.ts'

export function splitWords(line: string): string[] {
  const words: string[] = []
  let word: string | undefined
  let quote: string | undefined
  for (let at = 0; at < line.length; at++) {
    const character = line[at] as string
    if (quote !== undefined) {
      if (character === quote) quote = undefined
      else if (character === '\\' && quote === '"' && /["\\]/.test(line[at + 1] ?? '')) word = (word ?? '') + line[++at]
      else word = (word ?? '') + character
    } else if (character === '"' || character === "'") {
      quote = character
      word ??= ''
    } else if (/\s/.test(character)) {
      if (word !== undefined) words.push(word)
      word = undefined
    } else if (character === '\\' && at + 1 < line.length) {
      word = (word ?? '') + line[++at]
    } else {
      word = (word ?? '') + character
    }
  }
  if (quote !== undefined) throw new UsageError(`Missing closing ${quote}`)
  if (word !== undefined) words.push(word)
  return words
}

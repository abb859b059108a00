/** What all keywords work with. */

import type { Dialect } from './dialect.ts'
import { type Check, type Run, spend } from './run.ts'

export interface Pattern {
  /** What a test takes from the budget of steps. */
  stepsPerCharacter: number
  test(text: string): boolean
}

export interface KeywordContext {
  dialect: Dialect
  compile(schema: unknown, where: string): Check
  /** Undefined drops the keyword: the engine cannot run the expression safely. */
  pattern(source: string): Pattern | undefined
  assertsFormats: boolean
}

export function matches(pattern: Pattern, text: string, run: Run): boolean {
  spend(run, pattern.stepsPerCharacter * text.length)
  return pattern.test(text)
}

export const asNumber = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined)

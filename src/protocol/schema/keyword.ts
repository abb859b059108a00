/** Types and helpers that all keywords share. */

import type { Dialect } from './dialect.ts'
import { type Check, type Run, spend } from './run.ts'

export interface Pattern {
  /** The steps that a test costs. */
  stepsPerCharacter: number
  test(text: string): boolean
}

export interface KeywordContext {
  dialect: Dialect
  compile(schema: unknown, where: string): Check
  /** Undefined when the engine cannot run the expression safely; the keyword is then ignored. */
  pattern(source: string): Pattern | undefined
  assertsFormats: boolean
}

export function matches(pattern: Pattern, text: string, run: Run): boolean {
  spend(run, pattern.stepsPerCharacter * text.length)
  return pattern.test(text)
}

export const asNumber = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined)

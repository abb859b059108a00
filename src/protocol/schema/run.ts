/** One judgement of one value: the budget it may use, and what was found when the reasons are wanted. */

import { refused } from './document.ts'
import type { Issue } from './json-schema.ts'

export type Check = (value: unknown, run: Run) => boolean

export interface Run {
  steps: number
  maxSteps: number
  /** References entered and not left: a cycle that consumes nothing must end. */
  refs: number
  /** Collected only when wanted, so that the common case, a good value, pays nothing for them. */
  issues: Issue[] | undefined
  path: (string | number)[]
  /** What the current object's or array's schemas have looked at; undefined when nobody asks. */
  keys: Set<string> | undefined
  items: Set<number> | undefined
  /** The resources entered, outermost first, for $dynamicRef. */
  scope: string[]
}

const MAX_OPEN_REFS = 400
const MAX_ISSUES = 20

export const newRun = (maxSteps: number, issues?: Issue[]): Run => ({
  steps: maxSteps,
  maxSteps,
  refs: 0,
  issues,
  path: [],
  keys: undefined,
  items: undefined,
  scope: [],
})

export function spend(run: Run, steps: number): void {
  run.steps -= steps
  if (run.steps < 0) throw refused(`judging one value by it takes more than ${run.maxSteps} steps (maxSteps)`)
}

export function enterRef(run: Run): void {
  if (++run.refs > MAX_OPEN_REFS) throw refused('its references go round in a circle')
}

/** Notes an issue if reasons are wanted; always false, so that a check can end with it. */
export function issue(run: Run, message: string): false {
  if (run.issues && run.issues.length < MAX_ISSUES) run.issues.push({ path: [...run.path], message })
  return false
}

/** Judges a part of the value: the schemas of the part have their own account of what was looked at. */
export function descend(check: Check, value: unknown, key: string | number, run: Run): boolean {
  const { keys, items } = run
  run.keys = undefined
  run.items = undefined
  if (run.issues) run.path.push(key)
  const ok = check(value, run)
  if (run.issues) run.path.pop()
  run.keys = keys
  run.items = items
  return ok
}

/** Judges the same value by another schema; what it looked at counts only if it agrees. */
export function apply(check: Check, value: unknown, run: Run): boolean {
  const { keys, items } = run
  if (!keys && !items) return check(value, run)
  run.keys = keys && new Set()
  run.items = items && new Set()
  const ok = check(value, run)
  if (ok) {
    for (const key of run.keys ?? []) keys?.add(key)
    for (const item of run.items ?? []) items?.add(item)
  }
  run.keys = keys
  run.items = items
  return ok
}

/** Judges silently: the reasons why one of several alternatives failed are not reasons why the value did. */
export function probe(check: Check, value: unknown, run: Run): boolean {
  const { issues } = run
  run.issues = undefined
  const ok = apply(check, value, run)
  run.issues = issues
  return ok
}

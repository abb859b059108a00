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

/** Makes a record ready for the next judgement, however the last one ended. */
export function restart(run: Run): void {
  run.steps = run.maxSteps
  run.refs = 0
  run.keys = undefined
  run.items = undefined
  if (run.scope.length > 0) run.scope.length = 0
}

export function spend(run: Run, steps: number): void {
  run.steps -= steps
  if (run.steps < 0) throw refused(`judging one value by it takes more than ${run.maxSteps} steps (maxSteps)`)
}

/** Pays for small work that a loop does so often: looking a key up, passing an item over. About eight are a step. */
export const spendOn = (run: Run, count: number): void => spend(run, count >> 3)

export function enterRef(run: Run): void {
  if (++run.refs > MAX_OPEN_REFS) throw refused('its references go round in a circle')
}

/** Notes an issue if reasons are wanted; always false, so that a check can end with it. */
export function issue(run: Run, describe: () => string): false {
  if (wantsMore(run)) run.issues?.push({ path: [...run.path], message: describe() })
  return false
}

/** Whether to look on after a fault: only for reasons, and only for as many as anybody reads. */
export const wantsMore = (run: Run): boolean => run.issues !== undefined && run.issues.length < MAX_ISSUES

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
    spendOn(run, (run.keys?.size ?? 0) + (run.items?.size ?? 0))
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

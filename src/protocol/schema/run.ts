/** The state of one validation: the steps that are left and the issues found. */

import { refused } from './document.ts'
import type { Issue } from './json-schema.ts'

export type Check = (value: unknown, run: Run) => boolean

export interface Run {
  steps: number
  maxSteps: number
  /** The number of open references, to detect cycles. */
  refs: number
  /** Undefined in the first pass, so that valid values cost nothing extra. */
  issues: Issue[] | undefined
  path: (string | number)[]
  /** The evaluated keys of the current object; undefined when no keyword needs them. */
  keys: Set<string> | undefined
  /** The evaluated indexes of the current array; undefined when no keyword needs them. */
  items: Set<number> | undefined
  /** The open schema resources, outermost first, for $dynamicRef. */
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

/** Prepares the run for the next value. */
export function restart(run: Run): void {
  run.steps = run.maxSteps
  run.refs = 0
  run.keys = undefined
  run.items = undefined
  if (run.scope.length > 0) run.scope.length = 0
}

export function spend(run: Run, steps: number): void {
  run.steps -= steps
  if (run.steps < 0) throw refused(`checking one value takes more than ${run.maxSteps} steps (maxSteps)`)
}

/** Charges for small work in a loop, such as a key lookup. Eight of them cost one step. */
export const spendOn = (run: Run, count: number): void => spend(run, count >> 3)

export function enterRef(run: Run): void {
  if (++run.refs > MAX_OPEN_REFS) throw refused('its references form a cycle')
}

/** Records an issue if issues are collected. Returns false, so that a check can return it. */
export function issue(run: Run, describe: () => string): false {
  if (wantsMore(run)) run.issues?.push({ path: [...run.path], message: describe() })
  return false
}

/** Whether to continue after a problem: only while issues are collected and there are few of them. */
export const wantsMore = (run: Run): boolean => run.issues !== undefined && run.issues.length < MAX_ISSUES

/** Checks a part of the value. Its evaluated keys and items are recorded separately. */
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

/** Checks the same value with another schema. Its evaluated keys and items count only if it accepts the value. */
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

/** Checks without recording issues: the reasons of a failed alternative are not reasons for the whole value. */
export function probe(check: Check, value: unknown, run: Run): boolean {
  const { issues } = run
  run.issues = undefined
  const ok = apply(check, value, run)
  run.issues = issues
  return ok
}

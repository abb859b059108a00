/** Finds the arguments that are paths. Their real paths are looked up before the decision, which does no I/O. */

import type { Action } from '../model/action.ts'
import type { Grant } from '../model/grant.ts'
import type { CompiledArgument } from '../policy/argument-test.ts'
import type { CompiledPolicy } from '../policy/compile-policy.ts'
import { select } from '../policy/pointer.ts'
import { compilePattern } from './grant-match.ts'
import { pathArguments } from './path-arguments.ts'

/**
 * The pointers that `action.realPaths` should contain. The caller resolves the real path of each value, or of its nearest existing
 * ancestor. Relative paths are left out, because they depend on the server; `within` is then undecided.
 */
export function pathPointers(policy: CompiledPolicy, action: Action, grants: readonly Grant[] = []): string[] {
  const pointers = new Set<string>()
  for (const rule of policy.byKind.get(action.kind) ?? []) {
    if (rule.conditions.every((condition) => condition.holds(action))) collect(rule.arguments, action, pointers)
  }
  for (const { action: kind, bind } of grants) {
    if (bind.args.kind !== 'pattern' || kind !== action.kind || bind.server !== action.server.id) continue
    try {
      collect(compilePattern(bind.args.args, policy.folders), action, pointers)
    } catch {
      // An unreadable grant is ignored, here as in the decision.
    }
  }
  // The preset compares all paths of a tool that the person accepted as read-only with the granted folders.
  if (action.primitive?.isAcceptedReadOnly) for (const pointer of pathArguments(action.args) ?? []) pointers.add(pointer)
  return [...pointers]
}

function collect(args: readonly CompiledArgument[], action: Action, pointers: Set<string>): void {
  for (const { isPath, pointer } of args) {
    if (!isPath) continue
    try {
      for (const { pointer: at, value } of select(action.args, pointer).found) if (typeof value === 'string') pointers.add(at)
    } catch {
      // More than MAX_SELECTED values: the decision reports it.
    }
  }
}

/** Which arguments are paths that must be looked up before the decision, which does no I/O. */

import type { Action } from '../model/action.ts'
import type { Grant } from '../model/grant.ts'
import type { CompiledArgument } from '../policy/argument-test.ts'
import type { CompiledPolicy } from '../policy/compile-policy.ts'
import { select } from '../policy/pointer.ts'
import { compilePattern } from './grant-match.ts'

/**
 * Pointers for `action.realPaths`: whoever does the I/O puts the real path of what stands there, or of its nearest
 * ancestor that exists and the rest. What is no absolute path and no file URI is left out: where it leads depends on
 * the server, and `within` then counts as not known.
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
      // A grant that cannot be read is none, here as in the decision.
    }
  }
  return [...pointers]
}

function collect(args: readonly CompiledArgument[], action: Action, pointers: Set<string>): void {
  for (const { isPath, pointer } of args) {
    if (!isPath) continue
    try {
      for (const { pointer: at, value } of select(action.args, pointer).found) if (typeof value === 'string') pointers.add(at)
    } catch {
      // Too many: the decision says so.
    }
  }
}

/** Whether a grant covers an action. */

import type { Action } from '../model/action.ts'
import { digestOf } from '../model/digest.ts'
import type { ArgumentPredicate, Grant } from '../model/grant.ts'
import type { ArgumentRules } from '../model/rule.ts'
import { type CompiledArgument, compileArguments, type Folders, judgeArgument } from '../policy/argument-test.ts'
import { concerns } from '../policy/pointer.ts'

const NO_FOLDERS: Folders = { roots: {}, real: new Map() }

/** Whether the grant is live and bound to this action, principal, server, definition, scope and arguments. */
export function grantMatches(grant: Grant, action: Action, folders: Folders = NO_FOLDERS): boolean {
  const { bind } = grant
  return (
    grant.action === action.kind &&
    (grant.expiresAt === undefined || action.at < grant.expiresAt) &&
    (grant.usesLeft === undefined || grant.usesLeft > 0) &&
    bind.principal === action.principal &&
    bind.server === action.server.id &&
    bind.fingerprint === action.server.fingerprint &&
    bind.primitive === action.primitive?.name &&
    bind.pin === action.primitive?.pin &&
    isInScope(grant, action) &&
    fits(bind.args, action, folders)
  )
}

/** The bindings that the scope requires must exist, and every binding that exists must match. */
function isInScope({ scope, usesLeft, bind }: Grant, { run, turn, project }: Action): boolean {
  if (bind.run !== undefined && bind.run !== run) return false
  if (bind.turn !== undefined && bind.turn !== turn) return false
  if (bind.project !== undefined && bind.project !== project) return false
  switch (scope) {
    case 'once':
      return bind.run !== undefined && usesLeft !== undefined
    case 'turn':
      return bind.run !== undefined && bind.turn !== undefined
    case 'session':
      return bind.run !== undefined
    case 'project':
      return bind.project !== undefined
    case 'always':
      return true
    default:
      return false
  }
}

function fits(predicate: ArgumentPredicate, action: Action, folders: Folders): boolean {
  switch (predicate.kind) {
    case 'any':
      return true
    case 'exact':
      return predicate.digest === digestOf(action.args)
    case 'pattern': {
      const compiled = compilePattern(predicate.args, folders)
      // An argument that the pattern does not mention was not part of the approved call.
      const isCovered = Object.keys(action.args).every((member) => compiled.some(({ pointer }) => concerns(pointer, member)))
      return isCovered && compiled.every((argument) => judgeArgument(argument, action, 'all') === true)
    }
    default:
      return false
  }
}

/** Keyed by the pattern, so that entries disappear with their grants. */
const compiledPatterns = new WeakMap<ArgumentRules, { folders: Folders; compiled: CompiledArgument[] }>()

/** @throws McpError ERR_CONFIG for an invalid pattern */
export function compilePattern(pattern: ArgumentRules, folders: Folders): CompiledArgument[] {
  const known = compiledPatterns.get(pattern)
  if (known && known.folders === folders) return known.compiled
  const compiled = compileArguments(pattern, folders)
  compiledPatterns.set(pattern, { folders, compiled })
  return compiled
}

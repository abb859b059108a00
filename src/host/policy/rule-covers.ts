/** Checks whether one rule matches whenever another does, by comparing how they are written. */

import { isEqual } from '../../protocol/schema/equality.ts'
import type { Rule } from '../model/rule.ts'
import { type CompiledRule, nameTest } from './compile-policy.ts'
import { hasWildcard } from './glob.ts'
import { isForbidding } from './match-rule.ts'

/** Whether `wide` matches every action that `narrow` matches. False if in doubt. */
export function covers(wide: CompiledRule, narrow: CompiledRule): boolean {
  const [a, b] = [wide.rule.match, narrow.rule.match]
  return (
    [...narrow.kinds].every((kind) => wide.kinds.has(kind)) &&
    namesCover(a.server, b.server) &&
    namesCover(a.tool, b.tool) &&
    (a.tier === undefined || a.tier === b.tier) &&
    (a.mode === undefined || a.mode === b.mode) &&
    (a.initiator === undefined ||
      (b.initiator !== undefined && [b.initiator].flat().every((each) => [a.initiator].flat().includes(each)))) &&
    (a.labels ?? []).every((label) => b.labels?.includes(label)) &&
    hintsCover(a.claimed, b.claimed) &&
    hintsCover(a.asserted, b.asserted) &&
    !(wide.rule.effect === 'allow' && a.claimed) &&
    argumentsCover(wide.rule, narrow.rule)
  )
}

type Names = string | readonly string[] | undefined

/** A pattern covers the names it matches, and an equal pattern. */
function namesCover(wide: Names, narrow: Names): boolean {
  if (wide === undefined) return true
  if (narrow === undefined) return false
  const patterns = [wide].flat()
  return [narrow]
    .flat()
    .every((each) =>
      patterns.some((pattern) => /^\*+$/.test(pattern) || pattern === each || (!hasWildcard(each) && nameTest(pattern)(each))),
    )
}

const hintsCover = (wide: Rule['match']['claimed'], narrow: Rule['match']['claimed']): boolean =>
  Object.entries(wide ?? {}).every(([hint, value]) => narrow?.[hint as keyof typeof narrow] === value)

/** With `*` in a pointer, equal tests mean the same only for rules that quantify over values in the same way. */
function argumentsCover(wide: Rule, narrow: Rule): boolean {
  const isAlike = (wide.effect === 'allow') === (narrow.effect === 'allow') && isForbidding(wide) === isForbidding(narrow)
  return Object.entries(wide.args ?? {}).every(([pointer, test]) => {
    const other = narrow.args && Object.hasOwn(narrow.args, pointer) ? narrow.args[pointer] : undefined
    return other !== undefined && isEqual(test, other) && (isAlike || !pointer.includes('*'))
  })
}

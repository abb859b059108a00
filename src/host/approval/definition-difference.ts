/** Lists the changes between two versions of a definition: of a tool, prompt, template, skill, the instructions or the capabilities. */

import { isObject } from '../../base/json.ts'
import type { ToolAnnotations } from '../../protocol/model/tools.ts'
import { isEqual } from '../../protocol/schema/equality.ts'
import type { PinDifference } from '../model/difference.ts'
import { at, type Change, changeOf, namesIn, textChange, worstOf } from './change.ts'
import { type Primitive, pinOf } from './pin.ts'
import { schemaChanges } from './schema-difference.ts'
import { skillChanges } from './skill-difference.ts'

type Compare = (before: unknown, after: unknown, pointer: string) => Change[]

/** Undefined if the definitions are equal. The order of members does not matter. */
export function differenceOf(before: Primitive, after: Primitive): PinDifference | undefined {
  const isRenamed = before.name !== after.name
  if (!isRenamed && pinOf(before.definition) === pinOf(after.definition)) return undefined
  const changes =
    after.kind === 'skill' ? skillChanges(before.definition, after.definition) : definitionChanges(before.definition, after.definition)
  if (isRenamed) changes.unshift(changeOf('name', 'renamed', `renamed from ${before.name}`, before.name, after.name))
  // A changed digest is a new text, but not one that people read.
  if (after.kind !== 'skill') changes.push(...untoldChanges(before.definition, after.definition, changes))
  // Two spellings of the same meaning, such as `true` and `{}` for a schema.
  if (changes.length === 0) changes.push(changeOf('', 'cosmetic', 'same meaning, written differently', before.definition, after.definition))
  return { kind: after.kind, name: after.name, class: worstOf(changes), ...(isRenamed && { formerly: before.name }), changes }
}

/** New texts that no other change shows. A model reads every text, wherever it stands. */
function untoldChanges(before: unknown, after: unknown, changes: readonly Change[]): Change[] {
  const told = textsIn([before, ...changes.map((change) => change.after)])
  for (const { pointer } of changes) for (const name of namesIn(pointer)) told.add(name)
  const untold = [...textsIn([after])].filter((text) => !told.has(text))
  return untold.length === 0 ? [] : [changeOf('', 'widened', 'other text added', undefined, untold)]
}

/** The texts in a value, and the names of its members. */
function textsIn(values: unknown[]): Set<string> {
  const texts = new Set<string>()
  for (let value = values.pop(); value !== undefined || values.length > 0; value = values.pop()) {
    if (typeof value === 'string') texts.add(value)
    else if (typeof value === 'object' && value !== null) {
      if (!Array.isArray(value)) for (const name of Object.keys(value)) texts.add(name)
      for (const each of Object.values(value)) values.push(each)
    }
  }
  return texts
}

/** The difference of a definition that is no longer offered. */
export const removalOf = ({ kind, name, definition }: Primitive): PinDifference => ({
  kind,
  name,
  class: 'removed',
  changes: [changeOf('', 'removed', 'no longer offered', definition, undefined)],
})

function definitionChanges(before: unknown, after: unknown): Change[] {
  if (typeof before === 'string' || typeof after === 'string') return before === after ? [] : [textChange(before, after, '')]
  return memberChanges(before, after, '', (name) => MEMBERS.get(name) ?? compareOther)
}

function memberChanges(before: unknown, after: unknown, pointer: string, compareOf: (name: string) => Compare): Change[] {
  if (!isObject(before) || !isObject(after)) return compareOther(before, after, pointer)
  return [...new Set([...Object.keys(before), ...Object.keys(after)])].flatMap((name) => {
    const [left, right] = [own(before, name), own(after, name)]
    return isEqual(left, right) ? [] : compareOf(name)(left, right, at(pointer, name))
  })
}

/** An unknown member counts as widening, unless it was removed. */
const compareOther: Compare = (before, after, pointer) => {
  if (isEqual(before, after)) return []
  if (isObject(before) && isObject(after)) return memberChanges(before, after, pointer, () => compareOther)
  if (after === undefined) return [changeOf(pointer, 'narrowed', 'removed', before, after)]
  if (before === true && after === false) return [changeOf(pointer, 'narrowed', 'changed from true to false', before, after)]
  return [changeOf(pointer, 'widened', before === undefined ? 'added' : 'changed', before, after)]
}

const compareText: Compare = (before, after, pointer) => [textChange(before, after, pointer)]

/** A change of upper and lower case only is cosmetic. */
const compareTitle: Compare = (before, after, pointer) =>
  typeof before === 'string' && typeof after === 'string' && before.toLowerCase() === after.toLowerCase()
    ? [changeOf(pointer, 'cosmetic', 'only upper and lower case changed', before, after)]
    : [textChange(before, after, pointer)]

const compareIcons: Compare = (before, after, pointer) => [changeOf(pointer, 'cosmetic', 'icons changed', before, after)]

/** The default of each hint, the value that sounds safer, and its meaning in words. */
const HINTS: Readonly<Record<Exclude<keyof ToolAnnotations, 'title'>, { byDefault: boolean; safe: boolean; claim: string }>> = {
  readOnlyHint: { byDefault: false, safe: true, claim: 'read-only' },
  destructiveHint: { byDefault: true, safe: false, claim: 'non-destructive' },
  idempotentHint: { byDefault: false, safe: true, claim: 'idempotent' },
  openWorldHint: { byDefault: true, safe: false, claim: 'closed-world' },
}

const compareHint =
  ({ byDefault, safe, claim }: (typeof HINTS)[keyof typeof HINTS]): Compare =>
  (before, after, pointer) => {
    const [wasSafe, isSafe] = [(before ?? byDefault) === safe, (after ?? byDefault) === safe]
    if (wasSafe === isSafe) return [changeOf(pointer, 'cosmetic', 'same meaning as before', before, after)]
    return isSafe
      ? // Only a claim, so it relaxes nothing.
        [changeOf(pointer, 'text', `now claims to be ${claim}`, before, after)]
      : [changeOf(pointer, 'downgraded', `no longer claims to be ${claim}`, before, after)]
  }

const ANNOTATIONS: ReadonlyMap<string, Compare> = new Map<string, Compare>([
  ['title', compareTitle],
  ...Object.entries(HINTS).map(([name, hint]): [string, Compare] => [name, compareHint(hint)]),
])

const compareAnnotations: Compare = (before, after, pointer) =>
  memberChanges(before ?? {}, after ?? {}, pointer, (name) => ANNOTATIONS.get(name) ?? compareOther)

/** Compares the arguments of a prompt by name. */
const compareArguments: Compare = (before, after, pointer) => {
  const [left, right] = [argumentsIn(before), argumentsIn(after)]
  if (!left || !right) return compareOther(before, after, pointer)
  const changes = [...new Set([...left.keys(), ...right.keys()])].flatMap((name) => {
    const here = at(pointer, name)
    if (!left.has(name)) return [changeOf(here, 'widened', 'new argument', undefined, right.get(name))]
    if (!right.has(name)) return [changeOf(here, 'narrowed', 'argument removed', left.get(name), undefined)]
    return memberChanges(left.get(name), right.get(name), here, (member) => ARGUMENT.get(member) ?? compareOther)
  })
  return changes.length > 0 ? changes : [changeOf(pointer, 'cosmetic', 'same arguments in another order', before, after)]
}

const compareRequired: Compare = (before, after, pointer) => [
  after === true
    ? changeOf(pointer, 'narrowed', 'now required', before, after)
    : changeOf(pointer, before === true ? 'widened' : 'cosmetic', 'now optional', before, after),
]

const ARGUMENT: ReadonlyMap<string, Compare> = new Map([
  ['title', compareTitle],
  ['description', compareText],
  ['required', compareRequired],
])

/** The arguments by name. Undefined if one has no name, or two have the same. */
function argumentsIn(value: unknown): Map<string, unknown> | undefined {
  if (!Array.isArray(value ?? [])) return undefined
  const named = ((value ?? []) as unknown[]).map((each): [unknown, unknown] => [isObject(each) ? each.name : undefined, each])
  const found = new Map(named.filter((entry): entry is [string, unknown] => typeof entry[0] === 'string'))
  return found.size === named.length ? found : undefined
}

const MEMBERS: ReadonlyMap<string, Compare> = new Map([
  // A template is identified by its URI template, so its name can change without a rename.
  ['name', (before, after, pointer) => [changeOf(pointer, 'text', 'name changed', before, after)]],
  ['title', compareTitle],
  ['description', compareText],
  ['icons', compareIcons],
  ['inputSchema', schemaChanges],
  ['outputSchema', schemaChanges],
  ['annotations', compareAnnotations],
  ['arguments', compareArguments],
] satisfies [string, Compare][])

const own = (object: Record<string, unknown>, name: string): unknown => (Object.hasOwn(object, name) ? object[name] : undefined)

/** What changed between two definitions of one tool, prompt or template, of the instructions, or of the capabilities. */

import { isObject } from '../../base/json.ts'
import type { ToolAnnotations } from '../../protocol/model/tools.ts'
import { isEqual } from '../../protocol/schema/equality.ts'
import type { PinDifference } from '../model/difference.ts'
import { at, type Change, changeOf, textChange, worstOf } from './change.ts'
import { type Primitive, pinOf } from './pin.ts'
import { schemaChanges } from './schema-difference.ts'

type Compare = (before: unknown, after: unknown, pointer: string) => Change[]

/** Undefined when they differ at most in the order of members. */
export function differenceOf(before: Primitive, after: Primitive): PinDifference | undefined {
  const isRenamed = before.name !== after.name
  if (!isRenamed && pinOf(before.definition) === pinOf(after.definition)) return undefined
  const changes = definitionChanges(before.definition, after.definition)
  if (isRenamed) changes.unshift(changeOf('name', 'renamed', `was ${before.name}`, before.name, after.name))
  // Different notations of the same, such as `true` and `{}` for a schema.
  if (changes.length === 0) changes.push(changeOf('', 'cosmetic', 'the same, written in another way', before.definition, after.definition))
  return { kind: after.kind, name: after.name, class: worstOf(changes), ...(isRenamed && { formerly: before.name }), changes }
}

/** The difference of a definition that is no longer offered. */
export const removalOf = ({ kind, name, definition }: Primitive): PinDifference => ({
  kind,
  name,
  class: 'removed',
  changes: [changeOf('', 'removed', 'is no longer offered', definition, undefined)],
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
  if (after === undefined) return [changeOf(pointer, 'narrowed', 'is gone', before, after)]
  if (before === true && after === false) return [changeOf(pointer, 'narrowed', 'is no more', before, after)]
  return [changeOf(pointer, 'widened', before === undefined ? 'is new' : 'is another', before, after)]
}

const compareText: Compare = (before, after, pointer) => [textChange(before, after, pointer)]

/** A title differs only by more than capitals. */
const compareTitle: Compare = (before, after, pointer) =>
  typeof before === 'string' && typeof after === 'string' && before.toLowerCase() === after.toLowerCase()
    ? [changeOf(pointer, 'cosmetic', 'other capitals', before, after)]
    : [textChange(before, after, pointer)]

const compareIcons: Compare = (before, after, pointer) => [changeOf(pointer, 'cosmetic', 'other icons', before, after)]

/** The default of each hint, and the value that promises more. */
const HINTS: Readonly<Record<Exclude<keyof ToolAnnotations, 'title'>, { byDefault: boolean; safe: boolean; promise: string }>> = {
  readOnlyHint: { byDefault: false, safe: true, promise: 'that it changes nothing' },
  destructiveHint: { byDefault: true, safe: false, promise: 'that it destroys nothing' },
  idempotentHint: { byDefault: false, safe: true, promise: 'that a repetition does nothing more' },
  openWorldHint: { byDefault: true, safe: false, promise: 'that it stays within a closed world' },
}

const compareHint =
  ({ byDefault, safe, promise }: (typeof HINTS)[keyof typeof HINTS]): Compare =>
  (before, after, pointer) => {
    const [wasSafe, isSafe] = [(before ?? byDefault) === safe, (after ?? byDefault) === safe]
    if (wasSafe === isSafe) return [changeOf(pointer, 'cosmetic', 'says the same as before', before, after)]
    return isSafe
      ? // A claim only, so it relaxes nothing.
        [changeOf(pointer, 'text', `claims ${promise}, which it did not`, before, after)]
      : [changeOf(pointer, 'downgraded', `no longer claims ${promise}`, before, after)]
  }

const ANNOTATIONS: ReadonlyMap<string, Compare> = new Map<string, Compare>([
  ['title', compareTitle],
  ...Object.entries(HINTS).map(([name, hint]): [string, Compare] => [name, compareHint(hint)]),
])

const compareAnnotations: Compare = (before, after, pointer) =>
  memberChanges(before ?? {}, after ?? {}, pointer, (name) => ANNOTATIONS.get(name) ?? compareOther)

/** Arguments of a prompt, by name. */
const compareArguments: Compare = (before, after, pointer) => {
  const [left, right] = [argumentsIn(before), argumentsIn(after)]
  if (!left || !right) return compareOther(before, after, pointer)
  const changes = [...new Set([...left.keys(), ...right.keys()])].flatMap((name) => {
    const here = at(pointer, name)
    if (!left.has(name)) return [changeOf(here, 'widened', 'new argument', undefined, right.get(name))]
    if (!right.has(name)) return [changeOf(here, 'narrowed', 'the argument is gone', left.get(name), undefined)]
    return memberChanges(left.get(name), right.get(name), here, (member) => ARGUMENT.get(member) ?? compareOther)
  })
  return changes.length > 0 ? changes : [changeOf(pointer, 'cosmetic', 'the same arguments in another order', before, after)]
}

const compareRequired: Compare = (before, after, pointer) => [
  after === true
    ? changeOf(pointer, 'narrowed', 'must be given now', before, after)
    : changeOf(pointer, before === true ? 'widened' : 'cosmetic', 'may be left out', before, after),
]

const ARGUMENT: ReadonlyMap<string, Compare> = new Map([
  ['title', compareTitle],
  ['description', compareText],
  ['required', compareRequired],
])

/** Undefined unless every argument has a name. */
function argumentsIn(value: unknown): Map<string, unknown> | undefined {
  if (!Array.isArray(value ?? [])) return undefined
  const named = ((value ?? []) as unknown[]).map((each): [unknown, unknown] => [isObject(each) ? each.name : undefined, each])
  const found = new Map(named.filter((entry): entry is [string, unknown] => typeof entry[0] === 'string'))
  return found.size === named.length ? found : undefined
}

const MEMBERS: ReadonlyMap<string, Compare> = new Map([
  // The caller compares the names of tools.
  ['name', (before, after, pointer) => [changeOf(pointer, 'text', 'another name', before, after)]],
  ['title', compareTitle],
  ['description', compareText],
  ['icons', compareIcons],
  ['inputSchema', schemaChanges],
  ['outputSchema', schemaChanges],
  ['annotations', compareAnnotations],
  ['arguments', compareArguments],
] satisfies [string, Compare][])

const own = (object: Record<string, unknown>, name: string): unknown => (Object.hasOwn(object, name) ? object[name] : undefined)

/** Finds a name that an object should not have, such as a misspelled option. */

/** The names of all options. A record, so that the compiler notices one that is missing or too many. */
export type Members<Options> = Readonly<Record<keyof Options, 1>>

/** Says which member is not known and what may be meant; undefined if all are known. */
export function unknownMember(given: object | undefined, members: object): string | undefined {
  const name = Object.keys(given ?? {}).find((each) => !Object.hasOwn(members, each))
  if (name === undefined) return undefined
  const known = Object.keys(members)
  const meant = known.find((each) => isSlip(name, each)) ?? known.find((each) => name.startsWith(each) || each.startsWith(name))
  const hint = meant === undefined ? `expected one of ${known.join(', ')}` : `did you mean "${meant}"?`
  return `unknown member ${JSON.stringify(name)}; ${hint}`
}

/** Whether two names differ in at most two neighbouring letters, and have more in common. */
function isSlip(a: string, b: string): boolean {
  const [one, other] = [a.toLowerCase(), b.toLowerCase()]
  const shorter = Math.min(one.length, other.length)
  let same = 0
  while (same < shorter && one[same] === other[same]) same++
  let atEnd = 0
  while (atEnd < shorter - same && one.at(-1 - atEnd) === other.at(-1 - atEnd)) atEnd++
  const others = Math.max(one.length, other.length) - same - atEnd
  return others < 3 && others < same + atEnd
}

/** Which recordings a person most likely wants to compare. */

interface Recording {
  id: string
  target: string
}

/** The two newest of the same server, the older one first. Without such a pair: the two newest. @param recordings newest first */
export function comparedFirst(recordings: readonly Recording[]): [before: string, after: string] {
  const after = recordings.find((each, index) => recordings.some(({ target }, other) => other > index && target === each.target))
  const before = after && recordings.find(({ id, target }) => id !== after.id && target === after.target)
  return [(before ?? recordings[1])?.id ?? '', (after ?? recordings[0])?.id ?? '']
}

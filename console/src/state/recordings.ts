/** Recordings in words, and which of them a person most likely wants to compare. */

import type { RecordingView } from '../../../src/console/api.ts'
import { counted } from './format.ts'

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

/** How a recording of several servers ended: `2 recordings stored, 5 servers were silent.` */
export function storedText(ended: readonly Pick<RecordingView, 'state'>[]): string {
  const silent = ended.filter(({ state }) => state === 'empty').length
  if (silent === ended.length) return 'Nothing was sent, so nothing was stored.'
  const stored = `${counted(ended.length - silent, 'recording')} stored`
  return silent === 0 ? `${stored}.` : `${stored}, ${counted(silent, 'server was', 'servers were')} silent.`
}

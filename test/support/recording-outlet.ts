/** An outlet that keeps what is written to it. */

import type { Outlet } from '../../src/jsonrpc/outlet.ts'

export type Json = Record<string, unknown>

export interface RecordingOutlet extends Outlet {
  /** Notifications and requests, parsed. */
  readonly pushed: Json[]
  /** Answers, parsed; an array for a batch. */
  readonly answers: Json[]
  /** The code that came with each answer. */
  readonly codes: (number | undefined)[]
  dropped: number
}

export function recordingOutlet(): RecordingOutlet {
  const outlet: RecordingOutlet = {
    pushed: [],
    answers: [],
    codes: [],
    dropped: 0,
    push: (json) => void outlet.pushed.push(JSON.parse(json)),
    answer: (json, code) => {
      outlet.answers.push(JSON.parse(json))
      outlet.codes.push(code)
    },
    drop: () => {
      outlet.dropped++
    },
  }
  return outlet
}

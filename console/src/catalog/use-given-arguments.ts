/** The arguments that a form starts with: of a call that the address names, or written in the address by the person who made the link. */

import { useMemo, useRef } from 'react'
import { isObject } from '../../../src/base/json.ts'
import { useRoute } from '../hooks/use-console.tsx'
import { type Arguments, argumentsIn } from '../state/arguments.ts'

/** Our own links name a call, because a browser remembers every address and arguments can be private. */
export interface GivenSearch {
  args?: string | undefined
  /** A record of the audit log, among the recent calls. */
  call?: number | undefined
  /** A request in the timeline. */
  sent?: number | undefined
}

export interface GivenArguments {
  args?: Arguments
  /** Why they cannot be used. */
  fault?: string
  isLoading: boolean
  /** Another text for other arguments. */
  key: string
}

/** How far back calls are looked for. */
const MAX_RECENT = 100

export function useGivenArguments({ args: text, call, sent }: GivenSearch): GivenArguments {
  const written = useMemo(() => argumentsIn(text), [text])
  const recent = useRoute('GET /api/calls/recent', { query: { limit: MAX_RECENT } }, { isEnabled: call !== undefined })
  const message = useRoute('GET /api/timeline/:seq', { params: { seq: String(sent ?? 0) } }, { isEnabled: sent !== undefined })
  const key = `${text ?? ''} ${call ?? ''} ${sent ?? ''}`
  // A call stays known here when newer calls have pushed it out of the list.
  const found = useRef<{ key: string; args: Arguments }>(undefined)
  if (call === undefined && sent === undefined) return { ...written, isLoading: false, key }
  const args = call === undefined ? argumentsOf(message.data?.message.message) : recent.data?.calls.find(({ seq }) => seq === call)?.args
  if (args) found.current = { key, args }
  if (found.current?.key === key) return { args: found.current.args, isLoading: false, key }
  const isLoading = call === undefined ? message.isPending : recent.isPending
  return { ...(!isLoading && { fault: 'The arguments of that call are no longer here.' }), isLoading, key }
}

function argumentsOf(message: unknown): Arguments | undefined {
  const { params } = (message ?? {}) as { params?: { arguments?: unknown } }
  return isObject(params?.arguments) ? params.arguments : undefined
}

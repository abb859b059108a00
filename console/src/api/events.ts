/** The event stream: read with fetch, because EventSource cannot send the token. Continues after a lost connection. */

import type { ConsoleEvent } from '../state/event.ts'
import { ApiError, asApiError, errorOf } from './error.ts'
import type { Session } from './session.ts'
import { parseEvents } from './sse.ts'

/** `connecting`: for the first time. `lost`: it is tried again. `signed-out`: it is not tried again. */
export type StreamStatus = 'connecting' | 'live' | 'lost' | 'signed-out'

export interface EventStreamOptions {
  session: Session
  onEvent(event: ConsoleEvent): void
  onStatus(status: StreamStatus): void
  fetch?: typeof fetch
  /** Waits before the next attempt. Default: 0.25 s, doubled up to 5 s. */
  wait?(attempt: number, signal: AbortSignal): Promise<void>
}

/** A stream without a byte for this long is dead: the console sends a comment every 15 s. */
const SILENCE_MS = 40_000

/** Reads events until the signal is aborted or the session ends. Never throws. */
export async function followEvents(options: EventStreamOptions, signal: AbortSignal): Promise<void> {
  const { onStatus, wait = backOff } = options
  const position: Position = { lastId: '' }
  onStatus('connecting')
  for (let attempt = 1; !signal.aborted; attempt++) {
    try {
      await readOnce(options, position, signal, () => {
        attempt = 0
        onStatus('live')
      })
    } catch (error) {
      if (signal.aborted) return
      if (error instanceof ApiError && error.status === 401) return onStatus('signed-out')
    }
    if (signal.aborted) return
    onStatus('lost')
    await wait(attempt, signal)
  }
}

interface Position {
  lastId: string
}

async function readOnce(
  { session, onEvent, fetch: send = (...args) => fetch(...args) }: EventStreamOptions,
  position: Position,
  signal: AbortSignal,
  onOpen: () => void,
): Promise<void> {
  const silence = new AbortController()
  const stop = AbortSignal.any([signal, silence.signal])
  let timer = setTimeout(() => silence.abort(), SILENCE_MS)
  const onBytes = (): void => {
    clearTimeout(timer)
    timer = setTimeout(() => silence.abort(), SILENCE_MS)
  }
  try {
    const response = await send('/api/events', {
      headers: { ...session.headers(), ...(position.lastId !== '' && { 'last-event-id': position.lastId }) },
      signal: stop,
    }).catch((error) => {
      throw asApiError(error)
    })
    if (!response.ok) throw await errorOf(response)
    if (!response.body) throw new ApiError('ERR_ANSWER', 'Expected a stream of events, got an empty answer')
    onOpen()
    for await (const { id, name, data } of parseEvents(response.body, onBytes)) {
      if (id !== undefined) position.lastId = id
      const event = known(name, data)
      if (event) onEvent(event)
    }
  } finally {
    clearTimeout(timer)
  }
}

/** Events of newer consoles pass as they are: the reducer ignores names that it does not know. */
function known(name: string, text: string): ConsoleEvent | undefined {
  try {
    return { name, data: JSON.parse(text) } as ConsoleEvent
  } catch {
    return undefined
  }
}

const backOff = (attempt: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, Math.min(5_000, 250 * 2 ** Math.min(attempt, 6)))
    const stop = (): void => {
      clearTimeout(timer)
      resolve()
    }
    signal.addEventListener('abort', stop, { once: true })
  })

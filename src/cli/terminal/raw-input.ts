/** Reads the keys of a terminal as they are pressed, until the reader is done. */

import { Cancelled } from '../../client/index.ts'
import type { Io } from '../io.ts'

export interface RawReader {
  onData(input: string): void
  /** Called before `stop` gives the terminal back: ends timers. */
  onStop(): void
  onCancel(error: Cancelled): void
}

export interface RawInput {
  /** Gives the terminal back. */
  stop(): void
  /** Stops, and reports the question as closed without an answer, as a closed input and an aborted signal do. */
  cancel(): void
}

/** Call `start` after the reader is ready: a closed input cancels at once. */
export function rawInput({ stdin }: Pick<Io, 'stdin'>, signal: AbortSignal, reader: RawReader): RawInput & { start(): void } {
  const stop = (): void => {
    reader.onStop()
    stdin.off('data', onData)
    stdin.off('end', cancel)
    signal.removeEventListener('abort', cancel)
    stdin.setRawMode?.(false)
    stdin.pause()
  }
  const cancel = (): void => {
    stop()
    reader.onCancel(new Cancelled('The question was closed without an answer'))
  }
  const onData = (data: Buffer | string): void => reader.onData(data.toString())
  const start = (): void => {
    if (signal.aborted || stdin.readableEnded) return cancel()
    signal.addEventListener('abort', cancel, { once: true })
    stdin.on('end', cancel)
    stdin.on('data', onData)
    stdin.resume()
  }
  return { stop, cancel, start }
}

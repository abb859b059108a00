/** Waits until the person types nothing for a moment, so that text typed for something else does not land in a field. */

import { Cancelled } from '../../client/index.ts'
import type { Io } from '../io.ts'
import { INTERRUPT, QUIET_MS } from './key-filter.ts'

/** Drops what is typed meanwhile. @throws Cancelled for Ctrl-C, a closed input and an aborted signal */
export function untilQuiet({ stdin }: Pick<Io, 'stdin'>, signal: AbortSignal): Promise<void> {
  stdin.setRawMode?.(true)
  while (stdin.read() !== null);
  return new Promise((resolve, reject) => {
    let timer: NodeJS.Timeout
    const end = (): void => {
      clearTimeout(timer)
      stdin.off('data', onData)
      stdin.off('end', onClose)
      signal.removeEventListener('abort', onClose)
      stdin.setRawMode?.(false)
      stdin.pause()
    }
    const onClose = (): void => {
      end()
      reject(new Cancelled('The question was closed without an answer'))
    }
    const onQuiet = (): void => {
      end()
      resolve()
    }
    const wait = (): void => {
      clearTimeout(timer)
      // A busy process reads input long after it was typed: what is there when the moment ends is read, and starts a new moment.
      timer = setTimeout(() => setImmediate(() => (timer = setTimeout(onQuiet, 0))), QUIET_MS)
    }
    const onData = (data: Buffer | string): void => (data.toString() === INTERRUPT ? onClose() : wait())
    wait()
    if (signal.aborted || stdin.readableEnded) return onClose()
    signal.addEventListener('abort', onClose, { once: true })
    stdin.on('end', onClose)
    stdin.on('data', onData)
    stdin.resume()
  })
}

/** Waits for one key at the terminal. */

import type { Io } from '../io.ts'
import type { SafeText } from '../output/safe-text.ts'

/** Ctrl-C, Ctrl-D and Esc. */
const ENDS: ReadonlySet<string> = new Set(['\u0003', '\u0004', '\u001b'])

/**
 * Shows one line and waits for one of the keys: `enter`, `space` or a letter. Other keys do nothing.
 * Resolves with undefined after Esc, Ctrl-C or Ctrl-D, when the input is closed, and when the signal aborts.
 */
export function waitForKey<Key extends string>(
  io: Io,
  line: SafeText,
  keys: readonly Key[],
  signal: AbortSignal,
): Promise<Key | undefined> {
  const { stdin, terminal } = io
  if (signal.aborted) return Promise.resolve(undefined)
  return terminal.ask(
    () =>
      new Promise((resolve) => {
        io.stderr.stream.write(line.text)
        const wasRaw = stdin.isRaw === true
        stdin.setRawMode?.(true)
        const finish = (key: Key | undefined): void => {
          stdin.off('data', onData)
          stdin.off('end', onEnd)
          signal.removeEventListener('abort', onEnd)
          stdin.setRawMode?.(wasRaw)
          stdin.pause()
          // The line is a hint for this moment only.
          io.stderr.stream.write('\r\u001b[K')
          resolve(key)
        }
        const onEnd = (): void => finish(undefined)
        const onData = (data: Buffer | string): void => {
          const typed = String(data)
          // An arrow or another key with a sequence of its own.
          if (typed.length > 1 && typed.startsWith('\u001b')) return
          for (const character of typed) {
            if (ENDS.has(character)) return finish(undefined)
            const key = keys.find((each) => each === nameOf(character))
            if (key !== undefined) return finish(key)
          }
        }
        stdin.on('data', onData)
        stdin.once('end', onEnd)
        signal.addEventListener('abort', onEnd, { once: true })
        stdin.resume()
      }),
  )
}

const nameOf = (character: string): string =>
  character === '\r' || character === '\n' ? 'enter' : character === ' ' ? 'space' : character.toLowerCase()

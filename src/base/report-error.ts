/** Reports errors in the log. Their text may be a peer's, which must neither begin a line of the log nor control the terminal. */

import { asText } from './as-text.ts'
import { isObject, type JsonObject } from './json.ts'
import { notices } from './notices.ts'
import { visibleText } from './text/visible-text.ts'

/** Of each text. A peer can send megabytes. */
const MAX_CHARS = 4096
const MAX_CAUSES = 5
const MAX_DEPTH = 3

/** @param what failed, such as `portico: tools/call failed:` */
export function reportError(what: string, error: unknown): void {
  notices.write('error', `${oneLine(what)} ${described(error)}`)
}

const oneLine = (text: string): string =>
  visibleText(text.length <= MAX_CHARS ? text : `${text.slice(0, MAX_CHARS)}... (cut at ${MAX_CHARS} characters)`)

/** An error with its stack, its members and its causes. Only the stack and the causes begin lines. */
function described(error: unknown, depth = 0): string {
  try {
    // Errors of another realm are no instances of Error.
    if (typeof error !== 'object' || error === null || !('stack' in error)) return oneLine(asText(error))
    const { message, stack, cause, errors } = error as AggregateError
    const title = oneLine(Error.prototype.toString.call(error))
    const members = membersOf({ ...error, name: undefined, cause: undefined })
    const causes = [cause, ...(Array.isArray(errors) ? errors : [])].filter((each) => each !== undefined)
    const because = causes.slice(0, depth < MAX_DEPTH ? MAX_CAUSES : 0).map((each) => `\n  cause: ${described(each, depth + 1)}`)
    return title + framesOf(asText(stack), asText(message)) + (members === '{}' ? '' : `\n  ${oneLine(members)}`) + because.join('')
  } catch {
    return '(an error that has no text)'
  }
}

/** Without bytes: they say nothing to a reader, and may be what somebody has stored. */
function membersOf(members: object): string {
  try {
    return JSON.stringify(members, (_name, value: unknown) => {
      const bytes = bytesIn(value)
      return bytes === undefined ? value : `(${bytes} bytes)`
    })
  } catch {
    return asText(members)
  }
}

/** The number of bytes, also of a Buffer that has become plain JSON. */
function bytesIn(value: unknown): number | undefined {
  if (ArrayBuffer.isView(value)) return value.byteLength
  const { type, data } = isObject(value) ? value : NOTHING
  return type === 'Buffer' && Array.isArray(data) ? data.length : undefined
}

const NOTHING: JsonObject = {}

/** The lines of a stack that say where it happened. They come after the message, which could imitate them. */
function framesOf(stack: string, message: string): string {
  const at = stack.indexOf(message)
  const frames = stack.slice(at < 0 ? 0 : at + message.length).match(/\n {4}at .*/g) ?? []
  return visibleText(frames.join('').slice(0, MAX_CHARS), { multiline: true })
}

/** Reads a body into memory up to a bound, so that a peer cannot make us read without end. */

import { GatheredBytes } from '../../base/gathered-bytes.ts'

/** Cancels the stream and throws `tooLarge()` when the body has more than `maxBytes` bytes. */
export async function readBody(
  body: ReadableStream<Uint8Array> | null,
  maxBytes: number,
  tooLarge: () => Error,
): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = new GatheredBytes()
  const reader = body?.getReader()
  while (reader) {
    const { done, value } = await reader.read()
    if (done) break
    if (bytes.size + value.length > maxBytes) {
      // Not awaited: a sender that ignores the cancellation must not delay the error.
      reader.cancel().catch(() => {})
      throw tooLarge()
    }
    bytes.add(value)
  }
  // No body comes in memory that threads share.
  return bytes.all as Uint8Array<ArrayBuffer>
}

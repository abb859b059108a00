/** Reads a body into memory up to a bound, so that a peer cannot make us read without end. */

/** Cancels the stream and throws `tooLarge()` when the body has more than `maxBytes` bytes. */
export async function readBody(
  body: ReadableStream<Uint8Array> | null,
  maxBytes: number,
  tooLarge: () => Error,
): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = []
  let size = 0
  const reader = body?.getReader()
  while (reader) {
    const { done, value } = await reader.read()
    if (done) break
    size += value.byteLength
    if (size > maxBytes) {
      // Not awaited: a sender that ignores the cancellation must not delay the error.
      reader.cancel().catch(() => {})
      throw tooLarge()
    }
    chunks.push(value)
  }
  const whole = new Uint8Array(size)
  let at = 0
  for (const chunk of chunks) {
    whole.set(chunk, at)
    at += chunk.byteLength
  }
  return whole
}

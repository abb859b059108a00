/** Parses a body of server-sent events. */

export interface SentEvent {
  id?: string
  name: string
  data: string
}

/** The largest event that is read. A larger one ends the stream. */
const MAX_EVENT_CHARACTERS = 64 * 1024 * 1024

/** @param onBytes called for every piece, also for comments */
export async function* parseEvents(body: ReadableStream<Uint8Array>, onBytes: () => void = () => {}): AsyncGenerator<SentEvent> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let rest = ''
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      onBytes()
      rest += decoder.decode(value, { stream: true })
      if (rest.length > MAX_EVENT_CHARACTERS) throw new Error(`Expected events of at most ${MAX_EVENT_CHARACTERS} characters`)
      const blocks = rest.split(/\r?\n\r?\n/)
      rest = blocks.pop() ?? ''
      for (const block of blocks) {
        const event = parseBlock(block)
        if (event) yield event
      }
    }
  } finally {
    await reader.cancel().catch(() => {})
  }
}

function parseBlock(block: string): SentEvent | undefined {
  let id: string | undefined
  let name = 'message'
  const data: string[] = []
  for (const line of block.split(/\r?\n/)) {
    const colon = line.indexOf(':')
    if (colon === 0) continue
    const field = colon === -1 ? line : line.slice(0, colon)
    const value = colon === -1 ? '' : line.slice(colon + 1).replace(/^ /, '')
    if (field === 'id') id = value
    else if (field === 'event') name = value
    else if (field === 'data') data.push(value)
  }
  return data.length === 0 ? undefined : { name, data: data.join('\n'), ...(id !== undefined && { id }) }
}

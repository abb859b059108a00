import { describe, expect, test } from 'vitest'
import { fetchFromIssuer } from '../../../src/auth/server/fetch-json.ts'

/** Fetches a document that comes in these pieces, by a `fetch` that has no bounds of its own. */
function fetching(pieces: Uint8Array[] | undefined, maxDocumentBytes: number) {
  const seen = { isCancelled: false, init: {} as RequestInit, read: 0 }
  const body = pieces
    ? new ReadableStream<Uint8Array>(
        {
          pull: (controller) => {
            const piece = pieces[seen.read++]
            if (piece) controller.enqueue(piece)
            else controller.close()
          },
          cancel: () => {
            seen.isCancelled = true
          },
        },
        { highWaterMark: 0 },
      )
    : null
  const fetch = async (_url: string, init: RequestInit): Promise<Response> => {
    seen.init = init
    return new Response(body, { status: 201 })
  }
  return { seen, answer: fetchFromIssuer('https://as.example', { method: 'POST' }, { fetch, fetchTimeoutMs: 50, maxDocumentBytes }) }
}

const bytes = new TextEncoder().encode('{"name":"Zoë"}')
const halves = [bytes.slice(0, 12), bytes.slice(12)]

describe('a document of an authorization server', () => {
  test('a JSON document is assembled from its chunks, wherever they are cut', async () => {
    for (let cut = 0; cut <= bytes.length; cut++) {
      const { answer } = fetching([bytes.slice(0, cut), bytes.slice(cut)], bytes.length)
      expect(await answer).toEqual({ status: 201, body: { name: 'Zoë' } })
    }
  })

  test('a JSON document may be as long as the limit, counted over all chunks', async () => {
    const { seen, answer } = fetching([...halves, bytes], bytes.length - 1)
    await expect(answer).rejects.toThrow(`The document is larger than ${bytes.length - 1} bytes`)
    expect(seen).toMatchObject({ isCancelled: true, read: 2 })
  })

  test('an invalid JSON document has no body', async () => {
    expect(await fetching(undefined, 10).answer).toEqual({ status: 201, body: undefined })
    for (const text of ['', '[]', '{', 'null', '5'])
      expect(await fetching([new TextEncoder().encode(text)], 10).answer).toEqual({ status: 201, body: undefined })
  })

  test('a JSON document is fetched without redirects, within a time limit', async () => {
    const { seen, answer } = fetching(halves, 100)
    await answer
    expect(seen.init).toMatchObject({ method: 'POST', redirect: 'manual' })
    const { signal } = seen.init
    await new Promise<void>((resolve) => (signal?.aborted ? resolve() : signal?.addEventListener('abort', () => resolve())))
    expect(signal?.reason).toMatchObject({ name: 'TimeoutError' })
  })
})

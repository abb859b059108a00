import { expect, test } from 'vitest'
import { readBody } from '../../../src/auth/fetch/bounded-body.ts'
import { memoryKeptBy } from '../../support/memory.ts'

const PIECES = 200_000
const tooLarge = (): Error => new Error('too large')

const bodyOf = (pieces: number, onEnd: () => void | Promise<void> = () => {}): ReadableStream<Uint8Array> => {
  let sent = 0
  return new ReadableStream({
    pull: async (controller) => {
      if (sent++ < pieces) return controller.enqueue(new Uint8Array(64).fill(0x78).subarray(0, 1))
      await onEnd()
      controller.close()
    },
  })
}

test('a document in pieces of one byte is read up to its limit', async () => {
  expect(new TextDecoder().decode(await readBody(bodyOf(1_000), 1_000, tooLarge))).toBe('x'.repeat(1_000))
  await expect(readBody(bodyOf(1_001), 1_000, tooLarge)).rejects.toThrow('too large')
  expect(await readBody(null, 1_000, tooLarge)).toHaveLength(0)
})

test('a document in pieces of one byte takes memory for its bytes, not for its pieces', async () => {
  let finish = (): void => {}
  let document: Promise<Uint8Array> | undefined
  const kept = await memoryKeptBy(async () => {
    await new Promise<void>((resolve) => {
      const onEnd = (): Promise<void> => {
        resolve()
        return new Promise((end) => {
          finish = end
        })
      }
      document = readBody(bodyOf(PIECES, onEnd), PIECES, tooLarge)
    })
  })
  expect(kept).toBeLessThan(3_000_000)
  finish()
  expect(await document).toHaveLength(PIECES)
})

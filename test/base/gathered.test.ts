import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { GatheredBytes } from '../../src/base/gathered-bytes.ts'
import { GatheredText } from '../../src/base/gathered-text.ts'
import { expectLinear } from '../support/linear.ts'
import { memoryKeptBy } from '../support/memory.ts'

const PIECES = 100_000
/** Less than 16 bytes for each piece. */
const MAX_KEPT = 1_500_000

const gatheredBytes = (pieces: readonly Uint8Array[]): GatheredBytes => {
  const bytes = new GatheredBytes()
  for (const piece of pieces) bytes.add(piece)
  return bytes
}

describe('bytes', () => {
  test('any pieces give all bytes in their order, also after more of them and after a new beginning', () => {
    const aPiece = fc.uint8Array({ maxLength: 20 })
    fc.assert(
      fc.property(fc.array(aPiece), fc.array(aPiece), (first, second) => {
        const bytes = gatheredBytes(first)
        expect([Buffer.from(bytes.all), bytes.size]).toEqual([Buffer.concat(first), Buffer.concat(first).length])
        for (const piece of second) bytes.add(piece)
        expect(Buffer.from(bytes.all)).toEqual(Buffer.concat([...first, ...second]))
        bytes.clear()
        expect([bytes.size, bytes.all.length]).toEqual([0, 0])
        for (const piece of second) bytes.add(piece)
        expect(Buffer.from(bytes.all)).toEqual(Buffer.concat(second))
      }),
    )
  })

  test('a single piece is not copied, and no piece is changed', () => {
    const piece = Uint8Array.of(1, 2, 3, 4).subarray(0, 2)
    expect(gatheredBytes([piece]).all).toBe(piece)
    expect([...gatheredBytes([piece, piece]).all, ...new Uint8Array(piece.buffer)]).toEqual([1, 2, 1, 2, 1, 2, 3, 4])
  })

  test('pieces of one byte take the memory of their bytes', async () => {
    const kept = await memoryKeptBy(() => gatheredBytes(Array.from({ length: PIECES }, () => new Uint8Array(64).subarray(0, 1))))
    expect(kept).toBeLessThan(MAX_KEPT)
  })

  test('pieces of one byte take linear time', () => {
    expectLinear(200_000, (size) => () => {
      const bytes = new GatheredBytes()
      const piece = Uint8Array.of(1)
      for (let i = 0; i < size; i++) bytes.add(piece)
    })
  })
})

describe('text', () => {
  test('any pieces give the whole text, each time', () => {
    const somePieces = fc.array(fc.string({ maxLength: 3 }), { maxLength: 300 })
    fc.assert(
      fc.property(somePieces, somePieces, (first, second) => {
        const text = new GatheredText()
        for (const pieces of [first, second]) {
          for (const piece of pieces) text.add(piece)
          expect(text.length).toBe(pieces.join('').length)
          expect([text.take(), text.length, text.take()]).toEqual([pieces.join(''), 0, ''])
        }
        for (const piece of first) text.add(piece)
        text.clear()
        expect([text.length, text.take()]).toEqual([0, ''])
      }),
    )
  })

  test('small pieces take the memory of their text, and not of the texts from which they were cut', async () => {
    const kept = await memoryKeptBy(() => {
      const text = new GatheredText()
      for (let i = 0; i < PIECES; i++) text.add(`${'x'.repeat(1_000)}${i % 10}!`.slice(-2))
      for (let i = 0; i < 1_000; i++) text.add(`${'x'.repeat(10_000)}${i}`.slice(-20))
      return text
    })
    expect(kept).toBeLessThan(MAX_KEPT)
  })

  test('small pieces take linear time', () => {
    expectLinear(200_000, (size) => () => {
      const text = new GatheredText()
      for (let i = 0; i < size; i++) text.add('x')
      text.take()
    })
  })
})

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { compileGlob } from '../../../src/host/policy/glob.ts'

/** The same meaning, written as an expression that may backtrack: fine for short texts. */
const expression = (glob: string): RegExp =>
  new RegExp(
    `^${glob.replace(/\*+|[^*]+/g, (piece) => (piece === '*' ? '[^/]*' : piece.startsWith('*') ? '[^]*' : piece.replace(/[.\\^$]/g, '\\$&')))}$`,
  )

test('a glob matches the same texts as its regular expression', () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'b', '/', '.', '\n'), maxLength: 10 })
  const glob = fc.string({ unit: fc.constantFrom('a', 'b', '/', '.', '*', '*', '**'), maxLength: 8 })
  fc.assert(
    fc.property(glob, text, (pattern, given) => {
      expect(compileGlob(pattern)(given)).toBe(expression(pattern).test(given))
    }),
    { numRuns: 2_000 },
  )
})

test('a glob is anchored at both ends', () => {
  expect(compileGlob('a*')('ba')).toBe(false)
  expect(compileGlob('*a')('ab')).toBe(false)
  expect(compileGlob('')('')).toBe(true)
  expect(compileGlob('ab*ba')('aba')).toBe(false)
})

/** Markdown of others is read in a bounded time, and nothing of it is lost. */

import { expect, test } from 'vitest'
import { markdownTokens } from '../../../console/src/components/markdown-tokens.ts'

const of99k = (part: string): string => part.repeat(Math.floor(99_000 / part.length))

const wholeText = ({ tokens, rest }: ReturnType<typeof markdownTokens>): string => tokens.map(({ raw }) => raw).join('') + rest

test('usual markdown is read whole', () => {
  const text = '# Title\r\n\r\nA **bold** word and a [link](https://a.example).\n\n- one\n- two\n\n| a | b |\n|---|---|\n| 1 | 2 |\n'
  const read = markdownTokens(text, () => 0)
  expect(read.rest).toBe('')
  expect(read.tokens.map(({ type }) => type).filter((type) => type !== 'space')).toEqual(['heading', 'paragraph', 'list', 'table'])
  expect(JSON.stringify(read.tokens)).toContain('"type":"strong"')
})

test.each(['**a_', '[a](', '_a__', 'a**b', '~~a', '*a ', '\\', '>', '1. ', '> - ', '[', '`a``', '<a '])(
  'a text full of %j is read in a short time, and all of it is there',
  (part) => {
    const text = `# Title\n\n${of99k(part)}`
    const start = performance.now()
    const read = markdownTokens(text)
    // The budget is 150 ms. Without it each took between 2 seconds and minutes.
    expect(performance.now() - start).toBeLessThan(2_000)
    expect(wholeText(read)).toBe(text)
  },
)

test('when the time is over, the rest of the text stays as it is', () => {
  let now = 0
  const text = Array.from({ length: 200 }, (_, index) => `paragraph ${index}`).join('\n\n')
  const read = markdownTokens(text, () => now++)
  expect(read.tokens.length).toBeGreaterThan(0)
  expect(read.rest).toContain('paragraph 199')
  expect(wholeText(read)).toBe(text)
})

test('only so many tokens become elements, and a long text is cut at a line', () => {
  const list = '- *a* *b*\n'.repeat(5_000)
  expect(markdownTokens(list, () => 0)).toEqual({ tokens: [], rest: list })
  const long = markdownTokens(`${'word '.repeat(19)}word\n\n`.repeat(1_500), () => 0)
  expect(long.rest.length).toBeGreaterThan(40_000)
  expect(long.rest.startsWith('word')).toBe(true)
})

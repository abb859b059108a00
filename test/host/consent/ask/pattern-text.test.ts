import { expect, test } from 'vitest'
import { differenceText } from '../../../../src/host/consent/ask/difference-words.ts'
import { patternText } from '../../../../src/host/consent/ask/pattern-text.ts'
import type { ArgumentRules } from '../../../../src/host/model/rule.ts'

test.each<[ArgumentRules, string]>([
  [{ '/message': { eq: 'hi' } }, 'message = "hi"'],
  [{ '/message': { eq: null } }, 'message = null'],
  [{ '/a': { eq: 1 }, '/b': { in: ['x', 'y'] } }, 'a = 1\nb is one of "x", "y"'],
  [{ '/path': { within: '/home/anna' } }, 'path is in the folder "/home/anna"'],
  [{ '/paths/*': { within: ['/a', '/b'] } }, 'each of paths is in the folder "/a" or "/b"'],
  [{ '/url': { hostIn: ['example.com:443'] } }, 'url is an address on example.com:443'],
  [{ '/ip': { cidr: ['10.0.0.0/8'] } }, 'ip is an address in 10.0.0.0/8'],
  [{ '/text': { len: { max: 200 } } }, 'text has at most 200 characters or elements'],
  [{ '/id': { min: 1, max: 9 } }, 'id is 1 to 9'],
  [{ '/id': { min: 1 } }, 'id is at least 1'],
  [{ '/name': { glob: '*.md' } }, 'name matches "*.md"'],
  [{ '/name': { re2: '^a' } }, 'name matches the expression "^a"'],
  [{ '/o': { schema: { type: 'object' } } }, 'o fits the schema {"type":"object"}'],
  [{ '': { eq: {} } }, 'all arguments together = {}'],
  [{ '/o/in~1ner': { eq: 2 } }, 'o.in/ner = 2'],
  [{ '/two words': { eq: 2 } }, '"two words" = 2'],
])('a pattern is put into words: %j', (pattern, text) => {
  expect(patternText(pattern)).toBe(text)
})

test.each<[unknown, unknown, string]>([
  ['old', 'new', '- "old"\n+ "new"'],
  [undefined, 'new', '+ "new"'],
  ['old', undefined, '- "old"'],
  [{ a: 1, b: 2, c: 3 }, { a: 1, b: 4, c: 3 }, '  {\n    "a": 1,\n-   "b": 2,\n+   "b": 4,\n    "c": 3\n  }'],
  ['a\n+ "forged"', 'b', '- "a\\n+ \\"forged\\""\n+ "b"'],
])('a change is shown with its old and new lines: %j to %j', (before, after, text) => {
  expect(differenceText(before, after)).toBe(text)
})

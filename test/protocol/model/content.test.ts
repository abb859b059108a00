import { expect, test } from 'vitest'
import { isContentBlock } from '../../../src/protocol/model/content.ts'

test.each(['text', 'image', 'audio', 'resource', 'resource_link'])('a block of type %s is content', (type) => {
  expect(isContentBlock({ type })).toBe(true)
})

test.each([
  [{ type: 'tool_use' }],
  [{ type: 'tool_result' }],
  [{ type: 'video' }],
  [{}],
  [null],
  ['text'],
  [[]],
  [{ type: ['text'] }],
  [{ type: 'toString' }],
])('the value %j is not content', (value) => {
  expect(isContentBlock(value)).toBe(false)
})

import { describe, expect, test } from 'vitest'
import { each, inBlocks, inContent, inOrder, objectsIn, ofType, within, without } from '../../src/revisions/shapes.ts'
import { deepFreeze } from './rich-messages.ts'

const value = deepFreeze({ a: 1, b: { a: 1 }, list: [{ a: 1 }, { c: 2 }, 7, null, [{ a: 1 }]] })

describe('a step that finds nothing to do gives the same object', () => {
  test.each([
    ['without', without('x', 'y')],
    ['within a missing member', within('x', without('a'))],
    ['within a member that is no object', within('a', without('a'))],
    ['within a list', within('list', without('a'))],
    ['within', within('b', without('x'))],
    ['each of a missing list', each('x', without('a'))],
    ['each of what is no list', each('b', without('a'))],
    ['each', each('list', without('x'))],
    ['inOrder', inOrder(without('x'), within('b', without('x')))],
    ['ofType', ofType('text', without('a'))],
    ['inBlocks', inBlocks(without('a'))],
  ])('a step that finds nothing to do returns the same object: %s', (_name, step) => {
    expect(step(value)).toBe(value)
  })
})

test('members are removed', () => {
  expect(without('a', 'list')(value)).toEqual({ b: { a: 1 } })
})

test('a member that is an object is changed in a copy', () => {
  expect(within('b', without('a'))(value)).toEqual({ ...value, b: {} })
})

test('the objects of a list are changed in a copy, and nothing else in it', () => {
  expect(each('list', without('a'))(value).list).toEqual([{}, { c: 2 }, 7, null, [{ a: 1 }]])
})

test('steps are applied in order', () => {
  expect(inOrder((it) => ({ ...it, b: 1 }), without('b'))({ a: 1 })).toEqual({ a: 1 })
  expect(inOrder(without('b'), (it) => ({ ...it, b: 1 }))({ a: 1 })).toEqual({ a: 1, b: 1 })
})

test('a block of one type is changed', () => {
  expect(ofType('text', without('a'))({ type: 'text', a: 1 })).toEqual({ type: 'text' })
  expect(ofType('text', without('a'))({ type: 'image', a: 1 })).toEqual({ type: 'image', a: 1 })
})

test('the content of tools and prompts is reached, as one block or many', () => {
  const { 'tools/call': tools, 'prompts/get': prompts } = inContent(without('a'))
  expect(tools?.({ content: [{ a: 1 }] })).toEqual({ content: [{}] })
  expect(prompts?.({ messages: [{ content: { a: 1 }, a: 1 }] })).toEqual({ messages: [{ content: {}, a: 1 }] })
  expect(inBlocks(without('a'))({ content: { a: 1 } })).toEqual({ content: {} })
  expect(inBlocks(without('a'))({ content: [{ a: 1 }, { b: 1 }] })).toEqual({ content: [{}, { b: 1 }] })
})

test('the objects of a list are returned', () => {
  expect(objectsIn([{ a: 1 }, null, 7, [], 'x', {}])).toEqual([{ a: 1 }, {}])
  expect(objectsIn('x')).toEqual([])
})

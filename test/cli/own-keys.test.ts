/** Words of others are looked up among our own words: a word that every object has as a member is none of them. */

import { basename } from 'node:path'
import { describe, expect, test } from 'vitest'
import { assign } from '../../src/cli/arguments/assignment.ts'
import { checkArguments } from '../../src/cli/arguments/check.ts'
import { coerce } from '../../src/cli/arguments/coerce.ts'
import { MediaFolder } from '../../src/cli/output/media.ts'
import { splitTyped } from '../../src/revisions/typed-choices.ts'
import { stem } from '../../src/testing/scripted-model/words.ts'
import { differences } from '../../src/testing/transcript/difference.ts'
import { temporaryFolders } from '../support/folders.ts'
import { memoryIo } from './support/memory-io.ts'

const newFolder = temporaryFolders()

describe.each(['constructor', 'toString', '__proto__', 'hasOwnProperty'])('%s', (word) => {
  test('a built-in property name is not a file type', async () => {
    const folder = new MediaFolder(memoryIo({ cwd: newFolder() }), { folder: 'media' })
    expect(basename(await folder.save(new Uint8Array([1]), word, 'picture'))).toBe('picture-1.bin')
  })

  test('a built-in property name is not an argument type', () => {
    expect(() => coerce('x', 'text', { type: [word] }, {})).toThrow(new RegExp(`^x: expected ${word}`))
  })

  test('a built-in property name does not count as a given argument', async () => {
    const tool = { name: 'run', inputSchema: { type: 'object' as const, required: [word] } }
    await expect(checkArguments(tool, {}, () => {})).rejects.toThrow(`needs "${word}"`)
  })

  test('a built-in property name is not a word with another meaning', () => {
    expect(typeof stem(word)).toBe('string')
  })

  test('a built-in property name is not an earlier member of a transcript', () => {
    const after = JSON.parse(`{"${word}": 1}`)
    expect(differences({}, after)).toEqual([{ pointer: `/${word}`, after: 1 }])
  })
})

test('a field named like a built-in property gets no text that was not typed', () => {
  const question = { requestedSchema: { properties: { toString: { type: 'array', items: { enum: ['a'] } } } } }
  expect(splitTyped({ content: {} }, question)).toEqual({ content: {} })
})

describe('arguments named like built-in properties', () => {
  const options = { schema: { type: 'object' as const }, cwd: '/' }

  test('arguments cannot set a prototype, even when the tool lists the name', async () => {
    const listed = { type: 'object' as const, properties: JSON.parse('{"__proto__": {"type": "object"}}') }
    for (const schema of [options.schema, listed])
      for (const word of ['__proto__={"x":1}', '__proto__.x=1', 'a.__proto__.x=1'])
        await expect(assign([word], { ...options, schema })).rejects.toThrow('is not a valid argument name')
    expect(({} as Record<string, unknown>).x).toBeUndefined()
  })

  test('arguments may have the name of a built-in property', async () => {
    expect(await assign(['constructor.name=x', 'toString=y'], options)).toEqual({ constructor: { name: 'x' }, toString: 'y' })
  })
})

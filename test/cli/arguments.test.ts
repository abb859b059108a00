import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { assign } from '../../src/cli/arguments/assignment.ts'
import { checkArguments } from '../../src/cli/arguments/check.ts'
import { usageOf } from '../../src/cli/arguments/usage.ts'
import { UsageError } from '../../src/cli/errors.ts'
import { splitWords } from '../../src/cli/split-words.ts'
import type { JsonSchema } from '../../src/protocol/schema/json-schema.ts'
import { temporaryFolders } from '../support/folders.ts'

const newFolder = temporaryFolders()

const schema: JsonSchema = {
  type: 'object',
  properties: {
    title: { type: 'string' },
    count: { type: 'integer', minimum: 1 },
    share: { type: 'number' },
    isOpen: { type: 'boolean' },
    level: { type: 'string', enum: ['low', 'high'] },
    size: { enum: [1, 2, 3] },
    tags: { type: 'array', items: { type: 'string' } },
    numbers: { type: 'array', items: { type: 'integer' } },
    place: { type: 'object', properties: { city: { type: 'string' }, zip: { type: 'integer' } } },
    either: { anyOf: [{ type: 'integer' }, { type: 'null' }, { type: 'string' }] },
    'dotted.name': { type: 'string' },
    linked: { $ref: '#/$defs/linked' },
  },
  required: ['title'],
  $defs: { linked: { type: 'integer' } },
}

const read = (...words: string[]): Promise<Record<string, unknown>> => assign(words, { schema, cwd: '/' })

async function fault(words: string[]): Promise<UsageError> {
  const error = await read(...words).catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(UsageError)
  return error as UsageError
}

describe('words become what the schema wants', () => {
  test.each([
    ['text stays text, even when it looks like a number', ['title=007'], { title: '007' }],
    ['whole numbers', ['count=12'], { count: 12 }],
    ['numbers', ['share=-0.5e1'], { share: -5 }],
    ['switches', ['isOpen=yes'], { isOpen: true }],
    ['one of a choice', ['level=high'], { level: 'high' }],
    ['one of a choice of numbers', ['size=2'], { size: 2 }],
    ['a list by saying it again', ['tags=a', 'tags=b'], { tags: ['a', 'b'] }],
    ['a list of one', ['numbers=7'], { numbers: [7] }],
    ['a list as JSON', ['numbers=[1,2]'], { numbers: [1, 2] }],
    ['members by dots', ['place.city=Bern', 'place.zip=3000'], { place: { city: 'Bern', zip: 3000 } }],
    ['an object as JSON', ['place={"city":"Bern"}'], { place: { city: 'Bern' } }],
    ['alternatives, the narrowest first', ['either=5'], { either: 5 }],
    ['null', ['either=null'], { either: null }],
    ['text where nothing else fits', ['either=five'], { either: 'five' }],
    ['a name with a dot in it', ['dotted.name=x'], { 'dotted.name': 'x' }],
    ['a reference', ['linked=3'], { linked: 3 }],
    ['JSON where it is asked for', ['title:="007"'], { title: '007' }],
    ['an equals sign in the value', ['title=a=b'], { title: 'a=b' }],
    ['an empty value', ['title='], { title: '' }],
    ['an @ that is meant', ['title=@@home'], { title: '@home' }],
  ] as [string, string[], object][])('words become the types of the schema: %s', async (_, words, expected) => {
    expect(await read(...words)).toEqual(expected)
  })

  test('an argument can be read from a file', async () => {
    const folder = newFolder()
    writeFileSync(join(folder, 'body.txt'), 'two\nlines\n')
    writeFileSync(join(folder, 'place.json'), '{"city":"Bern"}')
    const args = await assign(['title=@body.txt', 'place:=@place.json'], { schema, cwd: folder })
    expect(args).toEqual({ title: 'two\nlines\n', place: { city: 'Bern' } })
  })

  test('a file at the limit is read, and one byte more is refused', async () => {
    const folder = newFolder()
    writeFileSync(join(folder, 'body.txt'), '12345')
    expect(await assign(['title=@body.txt'], { schema, cwd: folder, maxFileBytes: 5 })).toEqual({ title: '12345' })
    await expect(assign(['title=@body.txt'], { schema, cwd: folder, maxFileBytes: 4 })).rejects.toThrow('has 5 bytes: expected at most 4')
  })
})

describe('what does not fit is told before anything is sent', () => {
  test('an unknown argument name is refused, with the likely one', async () => {
    const error = await fault(['titel=x'])
    expect(error.message).toBe('Unknown argument "titel"')
    expect(error.hint).toBe('Did you mean "title"?')
  })

  test('an unknown member is refused', async () => {
    expect((await fault(['place.ciyt=x'])).hint).toBe('Did you mean "place.city"?')
  })

  test('an unknown choice is refused', async () => {
    const error = await fault(['level=hihg'])
    expect(error.message).toBe('level: expected one of low, high, got "hihg"')
    expect(error.hint).toBe('Did you mean level=high?')
  })

  test('a wrong value is refused, and the error shows the expected and the actual value', async () => {
    expect((await fault(['count=many'])).message).toBe('count: expected a whole number, got "many"')
    expect((await fault(['isOpen=maybe'])).message).toBe('isOpen: expected true or false, got "maybe"')
    expect((await fault(['place=here'])).hint).toContain('place.NAME=VALUE')
    expect((await fault(['title'])).message).toBe('Expected key=value, got "title"')
    expect((await fault(['title=a', 'title=b'])).message).toBe('"title" is given twice')
    expect((await fault(['title:={'])).message).toContain('title: expected JSON')
    expect((await fault(['title=@missing.txt'])).message).toContain('missing.txt cannot be read (ENOENT)')
  })

  test('a key cannot reach the prototype of an object', async () => {
    for (const key of ['__proto__.polluted=1', 'place.__proto__.polluted=1']) await fault([key])
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined()
  })

  test('every mistake is reported at once, with the usage of the tool', async () => {
    const tool = { name: 'add', inputSchema: schema }
    const error = await checkArguments(tool, { title: 5, count: 0 }, () => {}).catch((thrown: UsageError) => thrown)
    expect((error as UsageError).message).toContain('title: ')
    expect((error as UsageError).message).toContain('count: ')
    expect((error as UsageError).hint).toContain('add title=TEXT [count=NUMBER]')
  })

  test('a missing argument is named', async () => {
    await expect(checkArguments({ name: 'add', inputSchema: schema }, {}, () => {})).rejects.toThrow('add needs "title"')
  })

  test('an unusable schema stops nothing, and is reported', async () => {
    const told: string[] = []
    await checkArguments({ name: 'odd', inputSchema: { type: 'object', $ref: 'https://elsewhere.example/x' } }, {}, (why) => told.push(why))
    expect(told).toHaveLength(1)
  })
})

test('the usage of a tool lists the required arguments and describes each', () => {
  expect(usageOf({ name: 'add', inputSchema: schema })).toBe(
    'add title=TEXT [count=NUMBER] [share=NUMBER] [isOpen=true|false] [level=low|high] [size=1|2|3] [tags=... ...] [numbers=... ...] [place:=JSON] [either=NUMBER] [dotted.name=TEXT] [linked=NUMBER]',
  )
})

test('a typed line is split as a shell would, and nothing in it is run', () => {
  expect(splitWords(`call add title="two words" body='$(rm) "x"' a\\ b ""`)).toEqual([
    'call',
    'add',
    'title=two words',
    'body=$(rm) "x"',
    'a b',
    '',
  ])
  expect(() => splitWords('call "open')).toThrow('Missing closing "')
})

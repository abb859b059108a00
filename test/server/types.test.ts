/** Mistakes that the compiler finds. Each line with an expected error fails the check of types if it compiles. */

import { toStandardJsonSchema } from '@valibot/to-json-schema'
import { type } from 'arktype'
import { Type } from 'typebox'
import * as v from 'valibot'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { createServer } from '../../src/server/index.ts'

const server = () => createServer({ name: 'x', version: '1' })

test('the fields of a schema instead of a schema do not compile', () => {
  // @ts-expect-error -- the fields alone
  expect(() => server().tool('a', { input: { city: z.string() } }, () => 'x')).toThrow('wrap it in z.object({...})')
  // @ts-expect-error -- the same for results
  expect(() => server().tool('a', { output: { city: z.string() } }, () => ({ city: 'x' }))).toThrow('wrap it in z.object({...})')
  // @ts-expect-error -- the same for prompts
  expect(() => server().prompt('a', { input: { city: z.string() } }, () => 'x')).toThrow('wrap it in z.object({...})')
})

test('a valibot schema without its JSON Schema form does not compile', () => {
  const bare = v.object({ city: v.string() })
  // @ts-expect-error -- without toStandardJsonSchema
  expect(() => server().tool('a', { input: bare }, () => 'x')).toThrow('toStandardJsonSchema() of @valibot/to-json-schema')
  server().tool('a', { input: toStandardJsonSchema(bare) }, ({ city }) => city.toUpperCase())
})

test('a completer for an argument or a variable that does not exist does not compile', () => {
  const input = z.object({ city: z.string() })
  // @ts-expect-error -- a typo
  expect(() => server().prompt('a', { input, complete: { citty: () => [] } }, () => 'x')).toThrow('no argument "citty"')
  // @ts-expect-error -- a typo
  expect(() => server().resource('a://{id}', { name: 'a', complete: { idd: () => [] } }, () => 'x')).toThrow('no variable "idd"')
  server().prompt('a', { input, complete: { city: () => ['Oslo'] } }, ({ city }) => city)
  server().resource('a://{id}', { name: 'a', complete: { id: () => ['1'] } }, ({ id }) => id)
})

test('all kinds of schemas compile, with the types of their values', () => {
  const all = server()
  all.tool('zod', { input: z.object({ n: z.number() }), output: z.object({ n: z.number() }) }, ({ n }) => ({ n: n + 1 }))
  all.tool('arktype', { input: type({ n: 'number' }) }, ({ n }) => n.toFixed(0))
  all.tool('typebox', { input: Type.Object({ n: Type.Number() }) }, ({ n }) => n.toFixed(0))
  all.tool('json', { input: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] } as const }, ({ n }) => n.toFixed(0))
  const loose: Record<string, unknown> = { type: 'object' }
  all.tool('loose', { input: loose }, (args) => JSON.stringify(args))
  all.tool('none', {}, () => 'x')
  expect(all.hasTool('none')).toBe(true)
})

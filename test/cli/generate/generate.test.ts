import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import { connect } from 'portico'
import ts from 'typescript-v6'
import { expect, test } from 'vitest'
import { clientModule, MADE_BY } from '../../../src/cli/generate/client-module.ts'
import type { Tool } from '../../../src/client/index.ts'
import { temporaryFolders } from '../../support/folders.ts'
import { proofRuns } from '../../support/proof.ts'
import { fixture, portico, serveFixture } from '../support/cli.ts'
import * as typed from './expected/typed.ts'

const newFolder = temporaryFolders()
const expected = (name: string): string => readFileSync(fileURLToPath(new URL(`expected/${name}`, import.meta.url)), 'utf8')

// The expected modules are compiled with all other tests, under `strict`.
test('a live server gives a module, which is made again but never replaces a file of yours', async () => {
  const folder = newFolder()
  const generate = (...words: string[]) => portico(['generate', 'client', ...words, ...serveFixture('typed.mjs')], { cwd: folder })
  const printed = await generate()
  expect(printed.stdout).toBe(expected('typed.ts'))
  writeFileSync(join(folder, 'typed.ts'), `${MADE_BY}\n`)
  const written = await generate('--output', 'typed.ts')
  expect(written.stderr).toContain('typed.ts: 3 tools')
  expect(readFileSync(join(folder, 'typed.ts'), 'utf8')).toBe(expected('typed.ts'))
  writeFileSync(join(folder, 'typed.ts'), 'export const mine = 1\n')
  const refused = await generate('-o', 'typed.ts')
  expect(refused.code).toBe(2)
  expect(refused.stderr).toContain('was not made by this command')
})

test('the functions of the module call the tools', async () => {
  const client = await connect({ command: process.execPath, args: [fixture('typed.mjs')] })
  const found = await typed.searchBooks(client, { query: 'Moby Dick', kind: 'novel', 'published-in': { from: 1800, to: null } })
  expect(found.structuredContent?.titles[0]?.year).toBe(1851)
  expect((await typed.ping(client)).content).toEqual([{ type: 'text', text: 'pong' }])
  expect((await typed.deleteTool(client, { id: 7 })).content).toEqual([{ type: 'text', text: 'Deleted 7' }])
  await client.close()
})

const object = (properties: Record<string, unknown>, more: object = {}): Tool['inputSchema'] =>
  ({ type: 'object', properties, ...more }) as Tool['inputSchema']

// biome-ignore lint/suspicious/noTemplateCurlyInString: an attack on template strings
const ATTACK = "*/ process.exit(1) /* '+process.exit(1)+' `${process.exit(1)}` \u2028 process.exit(1)\n@ts-ignore"

const HOSTILE: Tool[] = [
  {
    name: ATTACK,
    description: ATTACK,
    inputSchema: object({ [ATTACK]: { description: ATTACK, enum: [ATTACK, 1, null] } }),
    outputSchema: object({ ['__proto__']: { const: ATTACK } }),
  },
  { name: 'class', inputSchema: object({ constructor: { type: 'string' }, new: { type: 'number' } }, { required: ['constructor'] }) },
  { name: 'Class!', inputSchema: object({}) },
  {
    name: '',
    inputSchema: {
      type: 'object',
      anyOf: [object({ a: { type: 'string' } }, { required: ['a'] }), object({ b: {} })],
    } as Tool['inputSchema'],
  },
  { name: '1', inputSchema: { type: 'object', $ref: '#', description: 'refers to itself' } as Tool['inputSchema'] },
  { name: '日本', description: '\u202Eleft to right', inputSchema: object({ far: { $ref: 'https://example.com/schema' } }) },
]

test('names and texts of a hostile server stay names and texts', () => {
  const text = clientModule(HOSTILE)
  if (process.env.UPDATE_EXPECTED === '1') writeFileSync(fileURLToPath(new URL('expected/hostile.ts', import.meta.url)), text)
  expect(text).toBe(expected('hostile.ts'))
  expect(clientModule(HOSTILE.toReversed())).toBe(text)
  expect(shapeOf(text)).toBe(shape(HOSTILE.length))
})

test('whatever a server says, the module has an import, and two types and a function for each tool', () => {
  const anyText = fc.oneof(fc.string({ unit: 'binary' }), fc.string(), fc.constantFrom(ATTACK, '*', '/', "'", '\\', '\\\\"', '*\r/'))
  const schema = fc.letrec((tie) => ({
    any: fc.oneof(
      { depthSize: 'small' },
      fc.record({ type: fc.constantFrom('string', 'number', 'null', 'nothing') }),
      fc.record({ enum: fc.array(anyText) }),
      fc.record({ const: anyText }),
      fc.record({ $ref: fc.oneof(anyText, fc.constantFrom('#', '#/properties/a')) }),
      fc.record({ type: fc.constant('array'), items: tie('any') }),
      fc.record({ anyOf: fc.array(tie('any'), { maxLength: 3 }) }),
      fc.record({ type: fc.constant('object'), description: anyText, properties: fc.dictionary(anyText, tie('any'), { maxKeys: 3 }) }),
    ),
  })).any
  const tool = fc.record({ name: anyText, description: anyText, inputSchema: schema, outputSchema: schema })
  fc.assert(
    fc.property(fc.array(tool, { maxLength: 3 }), (tools) => {
      expect(shapeOf(clientModule(tools as Tool[]))).toBe(shape(tools.length))
    }),
    { numRuns: proofRuns(40) },
  )
})

test('a schema that grows without end is unknown', () => {
  const properties = Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`p${i}`, { $ref: '#' }]))
  const text = clientModule([{ name: 'huge', inputSchema: object(properties) }])
  expect(text).toContain('export type HugeInput = unknown')
  expect(text).toContain('args as never')
  expect(text.length).toBeLessThan(1000)
})

const shape = (count: number): string =>
  ['ImportDeclaration', ...Array.from({ length: count }, () => 'TypeAliasDeclaration TypeAliasDeclaration VariableStatement')].join(' ')

/** The kinds of the statements, and the calls inside them. */
function shapeOf(text: string): string {
  const file = ts.createSourceFile('made.ts', text, ts.ScriptTarget.Latest, true) as ts.SourceFile & {
    parseDiagnostics: unknown[]
    commentDirectives?: unknown[]
  }
  expect(file.parseDiagnostics).toEqual([])
  expect(file.commentDirectives ?? []).toEqual([])
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node)) expect(node.expression.getText()).toBe('client.call')
    ts.forEachChild(node, visit)
  }
  visit(file)
  return file.statements.map(({ kind }) => (kind === ts.SyntaxKind.VariableStatement ? 'VariableStatement' : ts.SyntaxKind[kind])).join(' ')
}

test('a tool can have the name of something that a CommonJS module has', () => {
  const text = clientModule(['exports', 'module', 'require'].map((name) => ({ name, inputSchema: { type: 'object' } })))
  expect([...text.matchAll(/^export const (\w+)/gm)].map(([, name]) => name)).toEqual(['exportsTool', 'moduleTool', 'requireTool'])
})

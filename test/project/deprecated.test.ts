/** The documentation and the types mark the deprecated features of the specification. */

import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { proves } from '../support/proves.ts'

const read = (path: string): string => readFileSync(fileURLToPath(new URL(`../../${path}`, import.meta.url)), 'utf8')

test('the documentation lists every deprecated feature with its dates', () => {
  proves('R-VER-010')
  const [, section = ''] = read('docs/revisions.md').split('## Deprecated')
  const rows = section.split('\n').filter((line) => line.startsWith('| '))
  const rowOf = (feature: string): string => rows.find((row) => row.startsWith(`| ${feature}`)) ?? ''
  for (const feature of ['roots', 'sampling', 'logging', 'dynamic client registration'])
    expect(rowOf(feature)).toMatch(/\| 2026-07-28 \| .*2027-07-28/)
  expect(rowOf('`includeContext`')).toMatch(/thisServer.*allServers.*\| 2025-11-25 \| with sampling/)
  expect(rowOf('HTTP+SSE')).toContain('| 2025-03-26 |')
})

/** The last comment before a declaration. */
function commentOf(path: string, declaration: string): string {
  const text = read(path)
  const at = text.indexOf(`\n${declaration}`)
  expect(at, `${declaration} in ${path}`).toBeGreaterThan(0)
  expect(text.slice(0, at).endsWith('*/'), `${declaration} in ${path} has a comment`).toBe(true)
  return text.slice(text.lastIndexOf('/**', at), at)
}

test.each([
  ['src/server/context.ts', '  readonly log:'],
  ['src/server/context.ts', '  sample('],
  ['src/server/context.ts', '  roots()'],
  ['src/server/server.ts', '  readonly log:'],
  ['src/server/options.ts', '  logging?:'],
  ['src/server/input/question.ts', 'export function sampling('],
  ['src/server/input/question.ts', 'export function rootList('],
  ['src/client/answer-server.ts', '  sample?:'],
  ['src/client/answer-server.ts', '  roots?:'],
  ['src/client/options.ts', '  logLevel?:'],
])('in %s the declaration "%s" is marked as deprecated, with the date', (path, declaration) => {
  expect(commentOf(path, declaration)).toMatch(/@deprecated[\s\S]*2027-07-28/)
})

test('options that turn a deprecated transport or registration on say that it is deprecated', () => {
  expect(commentOf('src/http/server/options.ts', '  legacySse?:')).toContain('deprecated')
  expect(commentOf('src/auth/client/registration/client-registration.ts', '  about?:')).toMatch(/deprecated[\s\S]*2027-07-28/)
  expect(commentOf('src/protocol/model/sampling.ts', '  includeContext?:')).toContain('deprecated')
})

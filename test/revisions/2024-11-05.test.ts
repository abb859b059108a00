/** The base: a client and a server of the first revision are spoken to in its own words and no others. */

import { expect, test } from 'vitest'
import { METHODS } from '../../src/protocol/methods.ts'
import { type Revision, revisionOf } from '../../src/revisions/index.ts'
import { proves } from '../support/proves.ts'
import { PARAMS, RESULTS } from './rich-messages.ts'

const oldest = revisionOf('2024-11-05') as Revision
const NEWER = [
  'title',
  'icons',
  'resultType',
  'ttlMs',
  'cacheScope',
  'lastModified',
  'requestState',
  'inputResponses',
  'toolChoice',
  'elicitation',
  'extensions',
  'completions',
  'context',
  'websiteUrl',
]

test.each(Object.keys(PARAMS).filter((method) => oldest.has(method)))('the parameters of %s have no member that came later', (method) => {
  proves('T-VER-015', 'T-VER-017', 'T-VER-018')
  expect(membersOf(oldest.downgradeParams(method, PARAMS[method] as never)).filter((member) => NEWER.includes(member))).toEqual([])
})

test.each(Object.keys(RESULTS).filter((method) => oldest.has(method)))('the result of %s has no member that came later', (method) => {
  proves('T-VER-015', 'T-VER-018', 'T-VER-019')
  const fitted = oldest.downgradeResult(method, RESULTS[method] as never)
  expect(membersOf(fitted).filter((member) => NEWER.includes(member))).toEqual([])
  // No audio, no links: an older client refuses a block whose type it does not know.
  expect(JSON.stringify(fitted)).not.toMatch(/"type":"(?:audio|resource_link|tool_use|tool_result)"/)
})

test('the methods of 2024-11-05 are those of its requests and notifications', () => {
  proves('T-BASE-039', 'T-BASE-040', 'T-BASE-042')
  const spoken = (from: string, kind: string): string[] =>
    [...METHODS.values()]
      .filter((row) => row.kind === kind && [from, 'either'].includes(row.from) && oldest.has(row.method))
      .map(({ method }) => method)
  expect(spoken('client', 'request')).toHaveLength(13)
  expect(spoken('client', 'notification')).toHaveLength(4)
  expect(spoken('server', 'request').toSorted()).toEqual(['ping', 'roots/list', 'sampling/createMessage'])
  expect(spoken('server', 'notification')).toHaveLength(7)
})

/** The names of all members at any depth, save in what an author writes freely. */
function membersOf(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(membersOf)
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, each]) =>
    ['inputSchema', 'outputSchema', 'structuredContent', '_meta', 'metadata', 'experimental'].includes(key)
      ? [key]
      : [key, ...membersOf(each)],
  )
}

import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
// @ts-expect-error a plain script without types
import { root } from '../../scripts/setup.mjs'

const table = (file: string): string[][] =>
  readFileSync(`${root}/requirements/${file}`, 'utf8')
    .trimEnd()
    .split('\n')
    .slice(1)
    .map((line) => line.split('\t'))

const known = [...table('requirements.tsv'), ...table('requirements-2.tsv')].map(([id]) => id as string)
const unproved = table('unproved.tsv')

/** Ids in the sources of the tests, by file: in quotes as arguments of `proves()`, or in brackets in the first line of a transcript. */
const claims = readdirSync(`${root}/test`, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts') || file.endsWith('.mjs') || file.endsWith('.txt'))
  .flatMap((file) => {
    const text = readFileSync(`${root}/test/${file}`, 'utf8')
    return [...text.matchAll(/[['"]([TR]-[A-Z0-9]+-\d+)[\]'"]/g)].map(([, id]) => ({ file, id: id as string }))
  })

test('every requirement is listed once, with an id of the known form', () => {
  expect(known.length).toBeGreaterThan(1600)
  expect(known.filter((id) => !/^[TR]-[A-Z0-9]+-\d{3}$/.test(id))).toEqual([])
  expect(known.filter((id, i) => known.indexOf(id) !== i)).toEqual([])
})

test('every unproved row is a requirement, has a reason, and is listed once', () => {
  const ids = unproved.map(([id]) => id as string)
  expect(ids.filter((id) => !known.includes(id))).toEqual([])
  expect(ids.filter((id, i) => ids.indexOf(id) !== i)).toEqual([])
  for (const row of unproved) {
    expect(row, row[0]).toHaveLength(2)
    expect(row[1]?.trim(), row[0]).not.toBe('')
  }
})

test('every requirement that a test names exists', () => {
  expect(claims.length).toBeGreaterThan(500)
  expect(claims.filter(({ id }) => !known.includes(id))).toEqual([])
})

test('no requirement is both named by a test and listed as unproved', () => {
  const listed = new Set(unproved.map(([id]) => id))
  expect(claims.filter(({ id }) => listed.has(id))).toEqual([])
})

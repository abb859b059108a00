import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
// @ts-expect-error a plain script without types
import { root } from '../../scripts/setup.mjs'

const MAX_LENGTH = 100

/** `test('title', ...`, `describe.each(table)('title', ...` and the like: a text, then a function or options. */
const TITLE =
  /(?:\b(?:test|describe)(?:\.\w+)*|\btest(?:Works|Lacks)|\)|>)\(\s*(?:'[\w ]+',\s*)?(['"`])((?:\\.|(?!\1)[^\\\n])*)\1,\s*(?:async\b|\(|\{|function\b)/g

const titles = readdirSync(`${root}/test`, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .flatMap((file) => {
    const text = readFileSync(`${root}/test/${file}`, 'utf8')
    return [...text.matchAll(TITLE)].map(([, , title = '']) => ({ file, title: title.replace(/\\(.)/g, '$1') }))
  })

test('the titles of all tests are found', () => {
  expect(titles.length).toBeGreaterThan(3800)
})

test('a title has at most 100 characters', () => {
  expect(titles.filter(({ title }) => title.length > MAX_LENGTH)).toEqual([])
})

test('a title contains no requirement id: proves() names it in the body of the test', () => {
  expect(titles.filter(({ title }) => /\b[TR]-[A-Z0-9]+-\d{3}\b|\[[A-Z]+\d+\]/.test(title))).toEqual([])
})

test('a title does not begin with a code such as X1:', () => {
  expect(titles.filter(({ title }) => /^[A-Z]{1,2}\d+[a-z]?(?:, [A-Z]\d+)*[:)]/.test(title))).toEqual([])
})

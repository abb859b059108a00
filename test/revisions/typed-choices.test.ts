import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { REVISIONS, type Revision, revisionOf } from '../../src/revisions/index.ts'
import { expectLinear } from '../support/linear.ts'
import { deepFreeze } from './rich-messages.ts'

type Json = Record<string, unknown>

const older = revisionOf('2025-06-18') as Revision
const formOf = (items: Json): Json => ({
  mode: 'form',
  message: 'Pick',
  requestedSchema: { type: 'object', properties: { it: { type: 'array', items } } },
})
const plain = (...values: string[]): Json => formOf({ type: 'string', enum: values })
const titled = (titles: Record<string, string>): Json =>
  formOf({ anyOf: Object.entries(titles).map(([value, title]) => ({ const: value, title })) })

/** What a handler gets for what a person typed in. */
const read = (question: Json, text: unknown, revision = older): unknown =>
  (
    revision.upgradeResult('elicitation/create', deepFreeze({ action: 'accept', content: { it: text } }), deepFreeze(question))
      .content as Json
  ).it

describe('several choices in an old client', () => {
  test('several choices in an old client are asked for as text that names them', () => {
    const field = (question: Json): unknown =>
      (older.downgradeParams('elicitation/create', question).requestedSchema as { properties: Json }).properties.it
    expect(field(plain('a', 'b'))).toEqual({ type: 'string', description: 'Any of these, separated by commas: a, b' })
    expect(field(titled({ a: 'The A', b: 'The B' }))).toEqual({
      type: 'string',
      description: 'Any of these, separated by commas: a (The A), b (The B)',
    })
  })

  test.each<[text: string, list: string[]]>([
    ['a', ['a']],
    ['a, b', ['a', 'b']],
    ['a,b', ['a', 'b']],
    ['  b ,a  ', ['b', 'a']],
    ['a,,b,', ['a', 'b']],
    ['', []],
    [' , ', []],
    ['a, x', ['a', 'x']],
    ['ab', ['ab']],
    ['Washington, DC, a', ['Washington, DC', 'a']],
    ['a, Washington, DC', ['a', 'Washington, DC']],
    ['Washington', ['Washington']],
  ])('several choices typed in as %j are %j', (text, list) => {
    expect(read(plain('a', 'b', 'Washington, DC'), text)).toEqual(list)
  })

  test('several choices in an old client may be given by their titles, or by both', () => {
    const question = titled({ r: 'Red', g: 'Green, light' })
    expect(read(question, 'Red, Green, light')).toEqual(['r', 'g'])
    expect(read(question, 'r (Red), g (Green, light)')).toEqual(['r', 'g'])
    expect(read(question, 'g,Red')).toEqual(['g', 'r'])
  })

  test('choices with any names come back as they were chosen', () => {
    const name = fc
      .string({ unit: fc.constantFrom(...'ab, ()é'), minLength: 1, maxLength: 6 })
      .filter((text) => text.trim() === text && !text.startsWith(','))
    fc.assert(
      fc.property(
        fc.uniqueArray(name, { minLength: 1, maxLength: 5 }).filter((names) => !isAmbiguous(names)),
        fc.infiniteStream(fc.boolean()),
        (names, coin) => {
          const chosen = names.filter(() => coin.next().value)
          expect(read(plain(...names), chosen.join(', '))).toEqual(chosen)
        },
      ),
      { numRuns: 1000 },
    )
  })

  test('several choices are unchanged when the text is too long to be typed', () => {
    const text = 'a,'.repeat(6000)
    expect(read(plain('a'), text)).toBe(text)
    expectLinear(1000, (size) => {
      const typed = 'a,'.repeat(size / 2)
      return () => {
        for (let i = 0; i < 20; i++) read(plain('a', 'b', 'c'), typed)
      }
    })
  })
})

describe('an answer is not touched', () => {
  test.each<[name: string, answer: Json, question: Json]>([
    ['when it is a refusal', { action: 'decline' }, plain('a')],
    ['when the question was a page', { action: 'accept' }, { mode: 'url', message: 'm', url: 'https://example.com' }],
    ['when nothing of it was typed in', { action: 'accept', content: { it: ['a'] } }, plain('a')],
    [
      'when the field is a text',
      { action: 'accept', content: { it: 'a, b' } },
      { requestedSchema: { type: 'object', properties: { it: { type: 'string' } } } },
    ],
    ['when the field was not asked for', { action: 'accept', content: { other: 'a, b' } }, plain('a')],
    ['when there is no form', { action: 'accept', content: { it: 'a' } }, { requestedSchema: 7 }],
  ])('an answer is not changed: %s', (_name, answer, question) => {
    expect(older.upgradeResult('elicitation/create', deepFreeze(answer), deepFreeze(question))).toEqual(answer)
  })

  test('an answer is not changed by a revision that has such fields', () => {
    for (const revision of REVISIONS.slice(3)) {
      const answer = deepFreeze({ action: 'accept', content: { it: 'a, b' } })
      expect(revision.upgradeResult('elicitation/create', answer, plain('a', 'b'))).toBe(answer)
    }
  })
})

/** One name reads like others put together with commas. */
function isAmbiguous(names: readonly string[]): boolean {
  return names.some(
    (name) =>
      name.includes(',') &&
      names.some(
        (other) =>
          other !== name &&
          (name.startsWith(`${other},`) || name.endsWith(`, ${other}`) || new RegExp(`^${escaped(other)}\\s*,`).test(name)),
      ),
  )
}

function escaped(text: string): string {
  return text.replace(/[()]/g, '\\$&')
}

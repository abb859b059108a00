/** Editors show JSDoc for everything that users import, with an example for everything that they call. */

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { temporaryFolders } from '../support/folders.ts'
import { type Member, namesOf, type PublicName, publicNames } from '../support/public-names.ts'

/** Interfaces whose members are settings that users choose. The members of others are values that they receive or functions that they write. */
const OPTIONS = /(?:Options|Limits|Bounds|Definition|Init)$/

const isCalled = ({ kind }: PublicName): boolean => kind === 'function' || kind === 'class'

const isCalledByUsers = ({ isMethod, doc = '' }: Member): boolean => isMethod && !doc.includes('@internal')

const hasExample = (doc: string | undefined): boolean => doc?.includes('@example') === true

function faultsOf(names: readonly PublicName[]): string[] {
  const faults = names.flatMap((each) => {
    const { name, file, kind, doc, members } = each
    const found: string[] = []
    if (doc === undefined) found.push(`${name} has no JSDoc`)
    else if (isCalled(each) && !hasExample(doc)) found.push(`${name} has no @example`)
    if (kind === 'class' || OPTIONS.test(name)) {
      for (const member of members) {
        if (member.doc === undefined) found.push(`${name}.${member.name} has no JSDoc`)
        else if (kind === 'class' && isCalledByUsers(member) && !hasExample(member.doc))
          found.push(`${name}.${member.name} has no @example`)
      }
    }
    return found.map((fault) => `${file}: ${fault}`)
  })
  // Several entry points export the same names.
  return [...new Set(faults)]
}

test('every exported name, method and option has JSDoc, and everything that users call has an example', () => {
  const names = publicNames()
  expect(names.length).toBeGreaterThan(300)
  expect(faultsOf(names)).toEqual([])
})

describe('the check finds', () => {
  const folder = temporaryFolders()
  const check = (text: string): string[] => {
    const file = join(folder(), 'index.ts')
    writeFileSync(file, text)
    return faultsOf(namesOf('.', file)).map((fault) => fault.split(': ')[1] as string)
  }

  test.each([
    ['a function without JSDoc', 'export function a() {}', ['a has no JSDoc']],
    ['an arrow function without an example', '/** Doc. */\nexport const a = () => 1', ['a has no @example']],
    ['a class without an example', '/** Doc. */\nexport class A {}', ['A has no @example']],
    ['a method without JSDoc', '/** @example A */\nexport class A { #b() {}\n private c() {}\n d() {} }', ['A.d has no JSDoc']],
    ['a method without an example', '/** @example A */\nexport class A { /** Doc. */ d() {} }', ['A.d has no @example']],
    [
      'a method of a base class without JSDoc',
      'class Base { b() {} }\n/** @example A */\nexport class A extends Base {}',
      ['A.b has no JSDoc'],
    ],
    ['a type without JSDoc', 'export type A = 1', ['A has no JSDoc']],
    ['an option without JSDoc', '/** Doc. */\nexport interface AOptions { /** Doc. */ a: 1; b: 2 }', ['AOptions.b has no JSDoc']],
    [
      'an option of an extended interface without JSDoc',
      'interface Base { b: 2 }\n/** Doc. */\nexport interface AOptions extends Base {}',
      ['AOptions.b has no JSDoc'],
    ],
    ['a name that is exported later', 'function a() {}\nexport { a as b }', ['b has no JSDoc']],
    ['a file header in place of JSDoc', '/** The header. */\n\nexport type A = 1', ['A has no JSDoc']],
    ['a comment that belongs to another declaration', '/** Doc. */\nconst x = 1\nexport type A = typeof x', ['A has no JSDoc']],
  ])('%s', (_, text, faults) => expect(check(text)).toEqual(faults))

  test('nothing where everything is documented', () => {
    expect(check('/**\n * Doc.\n * @example a()\n */\nexport function a() {}\n/** Doc. */\nexport type B = 1')).toEqual([])
  })
})

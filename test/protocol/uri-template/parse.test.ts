import { describe, expect, expectTypeOf, test } from 'vitest'
import { McpError } from '../../../src/protocol/errors.ts'
import { type MatchedValues, uriTemplate, type VariablesOf } from '../../../src/protocol/uri-template/index.ts'
import { proves } from '../../support/proves.ts'

const faultOf = (template: string): McpError => {
  try {
    uriTemplate(template)
  } catch (error) {
    return error as McpError
  }
  throw new Error(`${template} was accepted`)
}

describe('a text that is no template', () => {
  test.each([
    ['a{b', '"{" at 1 is never closed'],
    ['a}b', '"}" at 1 has no matching "{"'],
    ['{a}}', '"}" at 3 has no matching "{"'],
    ['x{}', '"{}" names no variable'],
    ['{+}', '"" is not a variable'],
    ['{a,}', '"" is not a variable'],
    ['{=a}', 'the operator "=" is reserved'],
    ['{|a}', 'the operator "|" is reserved'],
    ['{!a}', 'the operator "!" is reserved'],
    ['{@a}', 'the operator "@" is reserved'],
    ['{a b}', '"a b" is not a variable'],
    ['{a-b}', '"a-b" is not a variable'],
    ['{.a.}', '"a." is not a variable'],
    ['{a:0}', '"a:0" is not a variable'],
    ['{a:10000}', '"a:10000" is not a variable'],
    ['{a:}', '"a:" is not a variable'],
    ['{a**}', '"a**" is not a variable'],
    ['{a:3*}', '"a:3*" is not a variable'],
    ['{{a}}', '"{a" is not a variable'],
    ['{%4}', '"%4" is not a variable'],
  ])('the template %s is refused with the place and the reason', (template, reason) => {
    proves('T-RES-015')
    const fault = faultOf(template)
    expect(fault).toBeInstanceOf(McpError)
    expect(fault.code).toBe('ERR_DEFINITION')
    expect(fault.message).toBe(`Not a URI template: ${JSON.stringify(template)}: ${reason}`)
  })

  test('a text that is no template is quoted in part only when it is long', () => {
    expect(faultOf(`${'x'.repeat(1000)}{`).message.length).toBeLessThan(300)
  })
})

describe('bounds', () => {
  test.each([
    [2047, true],
    [2048, true],
    [2049, false],
  ])('a template of %i characters: accepted is %s', (length, isAccepted) => {
    const template = `{a}${'x'.repeat(length - 3)}`
    if (isAccepted) expect(uriTemplate(template).template).toHaveLength(length)
    else expect(faultOf(template).message).toContain('it is longer than 2048 characters')
  })

  test.each([
    [15, true],
    [16, true],
    [17, false],
  ])('a template of %i expressions: accepted is %s', (count, isAccepted) => {
    const template = Array.from({ length: count }, (_, i) => `/{v${i}}`).join('')
    if (isAccepted) expect(uriTemplate(template).variables).toHaveLength(count)
    else expect(faultOf(template).message).toContain('it has more than 16 expressions')
  })
})

describe('variables', () => {
  test('variables are listed once each, in order of first use', () => {
    expect(uriTemplate('x://{b}/{a:3}{?b,c*}').variables).toEqual(['b', 'a', 'c'])
    expect(uriTemplate('x://plain').variables).toEqual([])
  })

  test('variables have types that follow from the template', () => {
    expectTypeOf<VariablesOf<'users://{id}'>>().toEqualTypeOf<{ id: string }>()
    expectTypeOf<VariablesOf<'x://{+a}/{b:3}'>>().toEqualTypeOf<{ a: string; b: string }>()
    expectTypeOf<VariablesOf<'x:/{/path*}'>>().toEqualTypeOf<{ path?: string[] }>()
    expectTypeOf<VariablesOf<'x://{list*}'>>().toEqualTypeOf<{ list: string[] }>()
    expectTypeOf<VariablesOf<'x://a{?q,page}'>>().toEqualTypeOf<{ q?: string; page?: string }>()
    expectTypeOf<VariablesOf<'x://a{?q*}'>>().toEqualTypeOf<{ q?: string[] | Record<string, string> }>()
    expectTypeOf<VariablesOf<'x://{a,b}'>>().toEqualTypeOf<{ a: string; b?: string }>()
    expectTypeOf<VariablesOf<'x://{a}{?a}'>>().toEqualTypeOf<{ a: string }>()
    expectTypeOf<VariablesOf<'x://{a}{#b}{.c}{;d}{&e}'>>().toEqualTypeOf<{ a: string; b?: string; c?: string; d?: string; e?: string }>()
    expectTypeOf<VariablesOf<'x://plain'>>().toEqualTypeOf<Record<never, never>>()
    expectTypeOf<VariablesOf<string>>().toEqualTypeOf<MatchedValues>()
  })
})

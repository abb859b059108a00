import { describe, expect, test } from 'vitest'
import { MAX_TRACE_LENGTH, readTrace } from '../../../src/protocol/model/trace-context.ts'
import { proves } from '../../support/proves.ts'

const PARENT = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'

function read(source: Record<string, unknown>) {
  const faults: string[] = []
  return { trace: readTrace(source, (fault) => faults.push(fault)), faults }
}

describe('traceparent', () => {
  test.each([
    PARENT,
    '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00',
    'cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
    'cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-what-the-future-brings',
  ])('the traceparent %s is accepted', (traceparent) => {
    proves('R-META-014')
    expect(read({ traceparent })).toEqual({ trace: { traceparent }, faults: [] })
  })

  test.each([
    ['nothing', ''],
    ['a number', 5],
    ['capital letters', PARENT.toUpperCase()],
    ['version ff', PARENT.replace(/^00/, 'ff')],
    ['a trace id of zeros', '00-00000000000000000000000000000000-b7ad6b7169203331-01'],
    ['a parent id of zeros', '00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01'],
    ['a trace id that is too short', '00-0af7651916cd43dd8448eb211c80319-b7ad6b7169203331-01'],
    ['more fields than version 00 has', `${PARENT}-more`],
    ['a space at its end', `${PARENT} `],
    ['a line break at its end', `${PARENT}\n`],
    ['a later version without the dash', `${PARENT.replace(/^00/, 'cc')}more`],
    ['a later version without end', `${PARENT.replace(/^00/, 'cc')}-${'x'.repeat(600)}`],
  ])('a traceparent with %s is left out, and so is its tracestate', (_name, traceparent) => {
    proves('R-META-014')
    const { trace, faults } = read({ traceparent, tracestate: 'a=1' })
    expect(trace).toBeUndefined()
    expect(faults).toEqual([expect.stringContaining('traceparent must be like 00-'), 'tracestate needs a valid traceparent'])
  })
})

describe('tracestate', () => {
  const members = (count: number): string => Array.from({ length: count }, (_, i) => `k${i}=v`).join(',')
  test.each([
    ['one member', 'rojo=00f067aa0ba902b7'],
    ['members with white space between them', 'a=1 ,\tb=2'],
    ['an empty member', 'a=1,,b=2'],
    ['a tenant', 'fw529a3039@dt=FfAAAAE'],
    ['32 members', members(32)],
    ['a value of 256 characters', `a=${'v'.repeat(256)}`],
  ])('a tracestate with %s is accepted', (_name, tracestate) => {
    expect(read({ traceparent: PARENT, tracestate })).toEqual({ trace: { traceparent: PARENT, tracestate }, faults: [] })
  })

  test.each([
    ['no member', ''],
    ['no value', 'a'],
    ['an empty value', 'a='],
    ['a key in capitals', 'A=1'],
    ['a key twice', 'a=1,a=2'],
    ['33 members', members(33)],
    ['a value of 257 characters', `a=${'v'.repeat(257)}`],
    ['a letter outside ASCII', 'a=é'],
    ['an equals sign in a value', 'a=b=c'],
    ['a line break', 'a=1\nb=2'],
    ['an object', {}],
  ])('a tracestate with %s is left out, and the traceparent stays', (_name, tracestate) => {
    proves('R-META-014')
    const { trace, faults } = read({ traceparent: PARENT, tracestate })
    expect(trace).toEqual({ traceparent: PARENT })
    expect(faults).toEqual([expect.stringContaining('tracestate must be a list')])
  })
})

describe('baggage', () => {
  test.each([
    'userId=alice',
    'userId=alice , serverNode=DF%2028;isProduction, a = 1 ; p = 2',
    'empty=',
    `k=${'v'.repeat(MAX_TRACE_LENGTH - 2)}`,
  ])('the baggage %j is accepted', (baggage) => {
    expect(read({ baggage })).toEqual({ trace: { baggage }, faults: [] })
  })

  test.each(['', 'alice', '=1', 'a=1,', 'a="quoted"', 'a=b c', 'a=1;', 'a=é', `k=${'v'.repeat(MAX_TRACE_LENGTH - 1)}`, 7])(
    'the baggage %j is left out',
    (baggage) => {
      proves('R-META-014')
      const { trace, faults } = read({ baggage, traceparent: PARENT })
      expect(trace).toEqual({ traceparent: PARENT })
      expect(faults).toEqual([expect.stringContaining('baggage must be a list')])
    },
  )
})

test('metadata without trace context gives none, even with other members', () => {
  expect(readTrace(undefined)).toBeUndefined()
  expect(read({ progressToken: 1, 'com.example/traceparent': PARENT })).toEqual({ trace: undefined, faults: [] })
})

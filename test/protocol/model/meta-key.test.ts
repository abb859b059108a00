import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { META } from '../../../src/protocol/model/base.ts'
import { readMetaKey } from '../../../src/protocol/model/meta-key.ts'
import { expectLinear } from '../../support/linear.ts'
import { proves } from '../../support/proves.ts'

const isValid = (key: string): boolean => readMetaKey(key).isValid
const isReserved = (key: string): boolean => {
  const read = readMetaKey(key)
  return read.isValid && read.isReserved
}

describe('a key of _meta', () => {
  test('a key of _meta is a name, or a prefix, a slash and a name', () => {
    proves('T-META-005')
    expect(readMetaKey('progressToken')).toEqual({ isValid: true, prefix: undefined, name: 'progressToken', isReserved: false })
    expect(readMetaKey('com.example/x')).toEqual({ isValid: true, prefix: 'com.example', name: 'x', isReserved: false })
  })

  test.each(['com.example/x', 'example/x', 'a.b.c.d/x'])('a key of _meta may have the prefix of %s', (key) => {
    proves('T-META-006')
    expect(isValid(key)).toBe(true)
  })

  test.each(['com..example/x', '/x', '.com/x', 'com./x', 'com.example//x', 'com/example/x', 'com example/x', './x'])(
    'a key of _meta may not have the prefix of %s',
    (key) => {
      proves('T-META-006')
      expect(isValid(key)).toBe(false)
    },
  )

  test.each(['a/x', 'A/x', 'a1/x', 'a-1/x', 'a--b/x', 'a-b.c-d/x'])('a key of _meta may have the labels of %s', (key) => {
    proves('T-META-007')
    expect(isValid(key)).toBe(true)
  })

  test.each(['1a/x', '-a/x', 'a-/x', 'a_b/x', 'a.1/x', 'a.-b/x', 'ä/x', 'a.b-/x', 'a*/x'])(
    'a key of _meta may not have the labels of %s',
    (key) => {
      proves('T-META-007')
      expect(isValid(key)).toBe(false)
    },
  )

  test.each(['x', '7', 'X9', 'com.x/', 'com.x/a'])('a key of _meta may have the name of %s', (key) => {
    proves('T-META-009')
    expect(isValid(key)).toBe(true)
  })

  test.each(['-a', 'a_', '_a', 'a-', '.a', 'a.', 'com.x/-', 'com.x/a.'])('a key of _meta may not have the name of %s', (key) => {
    proves('T-META-009')
    expect(isValid(key)).toBe(false)
  })

  test.each(['a-b_c.d', 'a..b', 'a-_.b', 'com.x/a-b_c.d9'])(
    'a key of _meta may have hyphens, underscores and dots inside, as %s',
    (key) => {
      proves('T-META-010')
      expect(isValid(key)).toBe(true)
    },
  )

  test.each(['a b', 'a:b', 'aäb', 'a\nb', 'a\n', 'com.x/a b', 'com.x/a+b'])(
    'a key of _meta may not have other characters, as %j',
    (key) => {
      proves('T-META-010')
      expect(isValid(key)).toBe(false)
    },
  )

  test('a key of _meta is refused with the reason, and never by throwing', () => {
    expect(readMetaKey('1a/x')).toEqual({
      isValid: false,
      fault: expect.stringMatching(/^"1a\/x" is not a valid key of _meta: label "1a" of its prefix must /) as string,
    })
    expect(readMetaKey('a/-')).toEqual({
      isValid: false,
      fault: expect.stringMatching(/^"a\/-" is not a valid key of _meta: name "-" must /) as string,
    })
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (key) => void readMetaKey(key)))
  })

  test('a key of _meta is put together again from its parts', () => {
    const label = fc.stringMatching(/^[A-Za-z](?:[A-Za-z0-9-]{0,5}[A-Za-z0-9])?$/)
    const name = fc.stringMatching(/^(?:[A-Za-z0-9](?:[A-Za-z0-9._-]{0,8}[A-Za-z0-9])?)?$/)
    fc.assert(
      fc.property(fc.option(fc.array(label, { minLength: 1, maxLength: 4 }), { nil: undefined }), name, (labels, text) => {
        const prefix = labels?.join('.')
        expect(readMetaKey(prefix === undefined ? text : `${prefix}/${text}`)).toMatchObject({ isValid: true, prefix, name: text })
      }),
    )
  })

  test('a key of _meta is judged in linear time', () => {
    expectLinear(100_000, (size) => {
      const keys = ['a', 'a-', 'a.', '-', 'a/'].flatMap((unit) => [unit.repeat(size / unit.length), `${unit.repeat(size / unit.length)}/x`])
      return () => keys.map(readMetaKey)
    })
  })
})

describe('a prefix belongs to MCP', () => {
  test.each([
    'modelcontextprotocol.io/',
    'mcp.dev/',
    'api.modelcontextprotocol.org/',
    'tools.mcp.com/',
    'a.b.mcp.c/x',
    'a.mcp.b.c/x',
    'mcp.dev.tools/x',
  ])('the prefix %s belongs to MCP by the older rule', (key) => {
    proves('T-META-008')
    expect(isReserved(key)).toBe(true)
  })

  test.each(['io.modelcontextprotocol/', 'dev.mcp/', 'org.modelcontextprotocol.api/', 'com.mcp.tools/'])(
    'the prefix %s belongs to MCP by the newer rule',
    (key) => {
      proves('R-META-002')
      expect(isReserved(key)).toBe(true)
    },
  )

  test.each([
    'com.example/',
    'com.example.mcp/',
    'mcp/',
    'modelcontextprotocol/',
    'com.mcpx/',
    'com.xmcp.a/',
    'mcp',
    'com.example/mcp.dev',
    'dev.portico/dropped',
  ])('the prefix %s does not belong to MCP', (key) => {
    proves('T-META-008', 'R-META-002')
    expect(isReserved(key)).toBe(false)
  })

  test('prefixes that the protocol uses belong to MCP, and three keys are reserved without a prefix', () => {
    proves('R-META-013')
    expect(Object.values(META).sort()).toEqual(
      ['clientCapabilities', 'clientInfo', 'logLevel', 'protocolVersion', 'serverInfo', 'subscriptionId'].map(
        (name) => `io.modelcontextprotocol/${name}`,
      ),
    )
    for (const key of ['progressToken', 'traceparent', 'tracestate', 'baggage'])
      expect(readMetaKey(key)).toEqual({ isValid: true, prefix: undefined, name: key, isReserved: false })
  })

  test.each(Object.values(META))('the prefix of %s, which the protocol uses, belongs to MCP', (key) => {
    expect(isReserved(key)).toBe(true)
  })
})

test('the keys that Portico defines have its domain name in reverse', () => {
  proves('R-META-001')
  const source = fileURLToPath(new URL('../../../src/', import.meta.url))
  const keys = readdirSync(source, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .flatMap((file) => [...readFileSync(`${source}${file}`, 'utf8').matchAll(/'((?:[a-z][\w-]*\.)+[a-z][\w-]*\/[\w.-]+)'/g)])
    .map(([, key]) => key as string)
    // com.example is for the documentation.
    .filter((key) => !/\.(?:ts|js|json)$/.test(key) && !key.startsWith('com.example/'))
  const own = new Set(keys.filter((key) => !key.startsWith('io.modelcontextprotocol/')))
  expect([...own]).toContain('dev.portico/dropped')
  for (const key of own) expect(key).toMatch(/^dev\.portico\//)
})

// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders are what this is about
/** Where a URL leads is decided by what is known before the question, and by nothing that is filled in later. */

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { checkAddress, checkPlaceholders, resolveAddress } from '../../../src/host/config/address.ts'
import { readEntry } from '../../../src/host/config/read-entry.ts'
import { readMembers } from '../../../src/host/config/read-members.ts'
import { resolveTransport } from '../../../src/host/server-command/resolve-placeholders.ts'

describe('the URL of a server', () => {
  test.each([
    'https://x.example/${secret:a}?key=${env:TOKEN}',
    'https://x.example?key=${secret:a}',
    '${env:API_BASE:-https://api.example.com}/mcp/${secret:a}',
    '${env:API_BASE}/mcp',
    '${env:SCHEME}://x.example/mcp',
    'https://${input:tenant}.example.com/mcp?key=${secret:a}',
    'http://localhost:${env:PORT:-3000}/mcp',
    'https://x.example/a@b/${env:A}',
  ])('a URL may have placeholders as in %s', (url) => {
    expect(checkPlaceholders(url)).toBeUndefined()
  })

  test.each([
    ['http://127.0.0.1:9000${env:PWD}@localhost:9/mcp', '${env:PWD} is in a URL with user information'],
    ['https://${env:USER}@x.example/', '${env:USER} is in a URL with user information'],
    ['https://a:${secret:docs/url}@good.example/mcp', '${secret:docs/url} is a secret'],
    ['https://${secret:a}.example/', '${secret:a} is a secret'],
    ['https://${env:GITHUB_TOKEN}.evil.example/', '${env:GITHUB_TOKEN} is a secret'],
    ['https://x.example:${secret:a}/', '${secret:a} is a secret'],
    ['https:///x.example/${secret:a}', '${secret:a} is a secret'],
    ['https:\\\\x.example\\${secret:a}', '${secret:a} is a secret'],
  ])('a URL like %s is refused, and the error says where placeholders are allowed', (url, why) => {
    const read = () => readEntry(readMembers({ url }, 'mcpServers.docs'), { translate: (text) => text }, () => {})
    expect(read).toThrow(why)
    expect(read).toThrow('use it in the path, the query or a header')
  })
})

test('a placeholder that is filled in after the decision cannot change the target of a URL', async () => {
  const piece = fc.constantFrom(
    'https://',
    'http:',
    '/',
    '\\',
    '@',
    '?',
    '#',
    ':',
    '80',
    'a.example',
    'b',
    '${env:A}',
    '${secret:S}',
    '\t',
    '..',
    '[',
    '&',
  )
  const value = fc.array(fc.constantFrom('/', '\\', '@', ':', '?', '#', 'evil.example', '//', 'https://', '80', '\n', '.'), {
    maxLength: 4,
  })
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 9 }), value, async (pieces, secret) => {
      const url = `https://${pieces.join('')}`
      const { url: decided, open } = resolveAddress(url, () => undefined)
      fc.pre(open.length === 0 && URL.canParse(decided))
      const fill = secret.join('')
      const filled = await resolveTransport({ type: 'http', url, headers: {} }, { secret: () => fill, env: () => fill })
      expect(new URL(filled.url).host).toBe(new URL(decided).host)
    }),
    { numRuns: 2000 },
  )
})

test('a value that completes a placeholder is not expanded again', () => {
  const { url, open } = resolveAddress('https://${env:A}{secret:x}.example/', () => '$')
  expect([url, open]).toEqual(['https://${secret:x}.example/', []])
})

test.each([
  ['https://evil.example/@good.example/', 'https://good.example/'],
  ['http://good.example/', 'https://good.example/'],
  ['https://good.example:8443/', 'https://good.example/'],
  ['https://u:p@good.example/', 'https://good.example/'],
  ['no URL', 'https://good.example/'],
])('the last check refuses %s if %s was approved', (filled, decided) => {
  expect(() => checkAddress(filled, decided)).toThrow(expect.objectContaining({ code: 'ERR_CONFIG' }))
  expect(() => checkAddress(decided, decided)).not.toThrow()
})

// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders are what this is about
/** Placeholders become values once, at the moment of a start, and errors about them have no values in them. */

import { inspect } from 'node:util'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { HttpTransport, StdioTransport } from '../../../src/host/model/server-spec.ts'
import { escapeText, partsOf, placeholdersIn } from '../../../src/host/server-command/placeholder.ts'
import { resolveTransport } from '../../../src/host/server-command/resolve-placeholders.ts'
import { expectLinear } from '../../support/linear.ts'

const CANARY = 'canary-8f3kq0Zx7LwP2mN5'
const processWay = (over: Partial<StdioTransport>): StdioTransport => ({ type: 'stdio', command: 'x', args: [], env: {}, ...over })
const httpWay = (over: Partial<HttpTransport>): HttpTransport => ({ type: 'http', url: 'https://x.example', headers: {}, ...over })

describe('a transport', () => {
  test('placeholders are resolved in every text of a transport, and each is asked for once', async () => {
    const asked: string[] = []
    const transport = processWay({
      command: '${env:BIN}/server',
      args: ['--key=${secret:key}', '${input:city}', 'plain', '${secret:key}'],
      env: { KEY: '${secret:key}', REGION: '${env:REGION:-eu}', EMPTY: '${env:EMPTY:-full}' },
      cwd: '${env:BIN}',
    })
    const values: string[] = []
    const resolved = await resolveTransport(transport, {
      secret: (name) => {
        asked.push(name)
        return Promise.resolve(CANARY)
      },
      env: (name) => ({ BIN: '/opt', EMPTY: '' })[name],
      input: (id) => {
        asked.push(id)
        return 'Paris'
      },
      onValue: (value) => values.push(value),
    })
    expect(resolved).toEqual({
      type: 'stdio',
      command: '/opt/server',
      args: [`--key=${CANARY}`, 'Paris', 'plain', CANARY],
      env: { KEY: CANARY, REGION: 'eu', EMPTY: 'full' },
      cwd: '/opt',
    })
    expect(asked).toEqual(['key', 'city'])
    expect(values).toEqual(['/opt', CANARY, 'Paris'])
    expect(transport.env.KEY).toBe('${secret:key}')
  })

  test('an HTTP transport is resolved in its URL and headers', async () => {
    const transport = httpWay({ url: 'https://${input:tenant}.example/mcp', headers: { Authorization: 'Bearer ${secret:t}' } })
    expect(await resolveTransport(transport, { secret: () => 'abc', input: () => 'acme' })).toEqual({
      type: 'http',
      url: 'https://acme.example/mcp',
      headers: { Authorization: 'Bearer abc' },
    })
  })

  test('a transport lists its placeholders and their places before it is resolved', () => {
    const transport = processWay({ args: ['${secret:a}${env:B:-c}'], env: { D: '${input:e}' } })
    expect(placeholdersIn({ transport })).toEqual([
      { kind: 'secret', name: 'a', where: 'args[0]' },
      { kind: 'env', name: 'B', fallback: 'c', where: 'args[0]' },
      { kind: 'input', name: 'e', where: 'env.D' },
    ])
  })

  test('a variable comes from the environment of this process by default', async () => {
    expect(await resolveTransport(processWay({ args: ['${env:PATH}'] }), {})).toMatchObject({ args: [process.env.PATH] })
  })
})

describe('a value', () => {
  test('a value that contains placeholders is not expanded again', async () => {
    const resolved = await resolveTransport(processWay({ args: ['${env:A}', '${input:b}', '${secret:c}'] }), {
      env: () => '${secret:stolen}',
      input: () => '${env:HOME} ${$}',
      secret: () => '${input:x}',
    })
    expect(resolved.args).toEqual(['${secret:stolen}', '${env:HOME} ${$}', '${input:x}'])
  })

  test.each([
    ['${secret:gone}', 'is not in the vault'],
    ['${env:PORTICO_NO_SUCH_VARIABLE}', 'is not set in the environment'],
    ['${input:nobody}', 'was not entered'],
  ])('a missing value is an error that names %s and its place', async (placeholder, why) => {
    await expect(resolveTransport(processWay({ env: { KEY: `a ${placeholder}` } }), { secret: () => undefined })).rejects.toMatchObject({
      code: 'ERR_SECRET',
      message: `${placeholder}, used in env.KEY, ${why}`,
    })
  })

  test.each([
    ['a line break in a header', httpWay({ headers: { A: '${secret:x}' } }), `${CANARY}\r\nX: y`],
    ['a NUL in an argument', processWay({ args: ['${secret:x}'] }), `${CANARY}\0`],
    ['a NUL in a variable', processWay({ env: { A: '${secret:x}' } }), `${CANARY}\0`],
    ['something that makes no URL', httpWay({ url: 'https://${secret:x}' }), `${CANARY} ^`],
  ])('a value with %s is refused, and the error does not repeat it', async (_what, transport, value) => {
    const error = await resolveTransport(transport, { secret: () => value }).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ code: 'ERR_SECRET', message: expect.stringContaining('${secret:x}') })
    expect(inspect(error, { depth: null, showHidden: true })).not.toContain(CANARY)
  })
})

describe('text', () => {
  test('escaped text is used literally', async () => {
    const piece = fc.oneof(
      fc.constantFrom('$', '{', '}', '${', '${$}', '${secret:a}', '${env:B:-c}', '${input:d}', ':', 'secret:'),
      fc.string({ maxLength: 4 }),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 8 }), async (pieces) => {
        const text = pieces.join('')
        const args = [escapeText(text), `${escapeText(text)}\${secret:real}`]
        expect((await resolveTransport(processWay({ args }), { secret: () => '!' })).args).toEqual([text, `${text}!`])
      }),
    )
  })

  test.each(['${secret:', '${env:a:-', '${', '$', '${$}', '${secret:a}'])('text that repeats %s is read in linear time', (piece) => {
    expectLinear(2000, (size) => {
      const text = piece.repeat(size)
      return () => void partsOf(text)
    })
  })
})

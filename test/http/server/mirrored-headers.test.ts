import { describe, expect, test, vi } from 'vitest'
import { decodeHeaderValue } from '../../../src/http/header-value.ts'
import type { ListenOptions } from '../../../src/http/index.ts'
import { http, rawHttp } from '../../support/http-requests.ts'
import { askModern, callTool, MODERN, modern, openSession, STREAMABLE, serve, testServer } from '../../support/http-service.ts'
import { proves } from '../../support/proves.ts'
import { envelope, type Message } from '../../support/raw-channel.ts'

const WHERE = {
  type: 'object',
  properties: {
    region: { type: 'string', 'x-mcp-header': 'Region' },
    count: { type: 'integer', 'x-mcp-header': 'Count' },
    isDry: { type: 'boolean', 'x-mcp-header': 'Dry' },
    deep: { type: 'object', properties: { zone: { type: 'string', 'x-mcp-header': 'Zone' } } },
  },
} as const

async function spied(options: ListenOptions = {}) {
  const server = testServer()
  const called = vi.fn((_args: unknown) => 'ok')
  server.tool('where', { input: WHERE }, called)
  server.resource('file:///größe', { name: 'r' }, () => 'text')
  server.prompt('p', {}, () => 'prompt')
  return { called, ...(await serve(server, options)) }
}

/** The same call with other headers; undefined leaves one out. */
async function withHeaders(url: string, asked: Parameters<typeof modern>[0], changed: Record<string, string | string[] | undefined>) {
  const call = modern(asked)
  const headers: Record<string, string | string[]> = { ...call.headers }
  for (const [name, value] of Object.entries(changed)) {
    if (value === undefined) delete headers[name]
    else headers[name] = value
  }
  return http(url, { ...call, headers })
}

function expectMismatch({ status, message }: { status: number; message: Message }, text: RegExp): void {
  expect([status, message.error?.code, message.id]).toEqual([400, -32020, 1])
  expect(message.error?.message).toMatch(text)
}

describe('headers that mirror the message', () => {
  const BAD: [string, Record<string, string | string[] | undefined>, RegExp][] = [
    ['no Mcp-Method', { 'mcp-method': undefined }, /Mcp-Method is missing/],
    ['another Mcp-Method', { 'mcp-method': 'tools/list' }, /Mcp-Method says "tools\/list", but the message says "tools\/call"/],
    ['Mcp-Method in other letters', { 'mcp-method': 'Tools/Call' }, /Mcp-Method says "Tools\/Call"/],
    ['Mcp-Method twice', { 'mcp-method': ['tools/call', 'tools/call'] }, /Mcp-Method/],
    ['no Mcp-Name', { 'mcp-name': undefined }, /Mcp-Name is missing/],
    ['another Mcp-Name', { 'mcp-name': 'hi' }, /Mcp-Name says "hi", but the message says "where"/],
    ['Mcp-Name twice', { 'mcp-name': ['where', 'hi'] }, /Mcp-Name/],
    ['Mcp-Name in Base64 of another', { 'mcp-name': `=?base64?${btoa('hi')}?=` }, /Mcp-Name says "hi"/],
    ['Mcp-Name in Base64 that is none', { 'mcp-name': '=?base64?d2hlcmU?=' }, /invalid Base64/],
    ['an empty Mcp-Name', { 'mcp-name': '' }, /Mcp-Name says ""/],
    ['no MCP-Protocol-Version', { 'mcp-protocol-version': undefined }, /MCP-Protocol-Version is missing/],
    ['another MCP-Protocol-Version', { 'mcp-protocol-version': '2025-11-25' }, /MCP-Protocol-Version says "2025-11-25"/],
    ['MCP-Protocol-Version twice', { 'mcp-protocol-version': [MODERN, MODERN] }, /MCP-Protocol-Version says/],
    ['a parameter without its header', { 'mcp-param-region': undefined }, /Mcp-Param-Region is missing/],
    ['a parameter with another value', { 'mcp-param-region': 'us' }, /Mcp-Param-Region says "us", but the message says "eu"/],
    ['a parameter twice', { 'mcp-param-region': ['eu', 'eu'] }, /Mcp-Param-Region came more than once/],
    ['a parameter in Base64 that is none', { 'mcp-param-region': '=?base64?%%%?=' }, /invalid Base64/],
    ['a parameter in Base64 of no UTF-8', { 'mcp-param-region': '=?base64?/w==?=' }, /invalid Base64/],
    [
      'the header of a parameter that was not sent',
      { 'mcp-param-zone': 'a' },
      /Mcp-Param-Zone says "a", but the message has no such argument/,
    ],
    ['a number that is another', { 'mcp-param-count': '6' }, /Mcp-Param-Count says "6", but the message says 5/],
    ['a boolean in other letters', { 'mcp-param-dry': 'True' }, /Mcp-Param-Dry says "True", but the message says true/],
  ]
  const CALL = callTool('where', { region: 'eu', count: 5, isDry: true })
  const PARAMS = { 'mcp-param-region': 'eu', 'mcp-param-count': '5', 'mcp-param-dry': 'true' }

  test.each(BAD)('%s is answered 400 and -32020, naming header and values, before any handler runs', async (_what, changed, text) => {
    proves('T-HDR-009', 'T-HDR-010', 'T-HDR-011', 'T-HDR-012', 'T-HDR-013', 'T-HDR-014', 'T-HDR-015', 'T-HDR-016')
    proves('T-HDR-041', 'T-HDR-042', 'T-HDR-045')
    proves('R-BASE-073', 'R-HDR-005', 'R-HDR-027', 'R-HDR-028', 'R-HDR-031')
    const { url, called } = await spied()
    expectMismatch(await withHeaders(url, CALL, { ...PARAMS, ...changed }), text)
    expect(called).not.toHaveBeenCalled()
    expect((await withHeaders(url, CALL, PARAMS)).status).toBe(200)
    expect(called).toHaveBeenCalledOnce()
  })

  test.each([
    ['5', '5', true],
    ['5', '5.0', true],
    ['5.0', '5', true],
    ['-5', '-5.00', true],
    ['0', '-0', true],
    ['9007199254740991', '9007199254740991', true],
    ['-9007199254740991', '-9007199254740991', true],
    ['5', '0x5', false],
    ['5', '5e0', false],
    ['5', '5.', false],
    ['5', '5.5', false],
    ['5', '+5', false],
    ['5', '05', false],
    ['5', '', false],
    ['5', 'five', false],
    ['5.5', '5.5', false],
    ['9007199254740992', '9007199254740993', false],
    ['9007199254740993', '9007199254740993', false],
    ['9007199254740992', '9007199254740992', false],
    ['-9007199254740992', '-9007199254740992', false],
    ['1e400', 'Infinity', false],
    ['"5"', '5', false],
  ])('the integer %s in the message and %j in the header: accepted is %s', async (inBody, inHeader, isTaken) => {
    proves('R-HDR-015', 'R-HDR-029')
    const { url, called } = await spied()
    const call = modern(callTool('where', { count: 'HERE' }), { 'mcp-param-count': inHeader })
    const answer = await http(url, { ...call, body: JSON.stringify(call.body).replace('"HERE"', inBody) })
    if (isTaken) expect([answer.status, called.mock.calls.length]).toEqual([200, 1])
    else {
      expectMismatch(answer, /Mcp-Param-Count says/)
      expect(called).not.toHaveBeenCalled()
    }
  })

  test.each([
    ['a wrong Mcp-Method', { 'mcp-method': 'notifications/other' }, 400],
    ['Mcp-Method twice', { 'mcp-method': ['notifications/x', 'notifications/x'] }, 400],
    ['the right Mcp-Method', { 'mcp-method': 'notifications/x' }, 202],
    ['no Mcp-Method, which the revision leaves open', {}, 202],
  ])('a notification with %s is refused', async (_what, headers, status) => {
    const { url } = await spied()
    const body = { jsonrpc: '2.0', method: 'notifications/x', params: { _meta: envelope() } }
    const answer = await http(url, { headers: { 'mcp-protocol-version': MODERN, ...headers }, body })
    expect(answer.status).toBe(status)
    if (status === 400) expect(answer.message.error).toMatchObject({ code: -32020, message: expect.stringContaining('Mcp-Method') })
    const strict = await spied({ requireMcpHeaders: true })
    const again = await http(strict.url, { headers: { 'mcp-protocol-version': MODERN, ...headers }, body })
    expect(again.status).toBe('mcp-method' in headers ? status : 400)
  })

  test('characters that a header may not hold are refused, by us or by the HTTP parser', async () => {
    proves('T-HDR-017', 'T-HDR-040', 'R-HDR-028')
    const { port, called } = await spied()
    const body = JSON.stringify(modern(callTool('where', { region: 'eu' })).body)
    const post = (name: string, value: string) =>
      rawHttp(
        port,
        Buffer.from(
          `POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\nContent-Type: application/json\r\nMCP-Protocol-Version: ${MODERN}\r\n` +
            `Mcp-Method: tools/call\r\nMcp-Name: where\r\n${name}: ${value}\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
          'latin1',
        ),
      ).closed
    // Bytes over 0x7F are legal for HTTP, so they reach us; control characters do not get that far.
    const high = await post('Mcp-Param-Region', 'e\xfc')
    expect(high).toMatch(/^HTTP\/1\.1 400 .*"code":-32020.*characters that are not allowed/s)
    for (const control of ['e\x01u', 'e\x00u', 'e\x7fu', 'e\ru', 'eu\nX-Injected: 1'.replace('\n', '\r')])
      expect((await post('Mcp-Param-Region', control)).slice(0, 12)).toBe('HTTP/1.1 400')
    expect(called).not.toHaveBeenCalled()
  })

  test('header names are case-insensitive', async () => {
    proves('T-HDR-008', 'R-HDR-031')
    const { url } = await spied()
    const { body } = modern(callTool('where', { region: 'eu' }))
    const headers = { 'MCP-PROTOCOL-VERSION': MODERN, 'mCP-mETHOD': 'tools/call', 'Mcp-NAME': 'where', 'MCP-PARAM-REGION': 'eu' }
    expect((await http(url, { headers, body })).status).toBe(200)
  })

  test('a tool can have mirrored arguments, and lists them', async () => {
    proves('T-HDR-019', 'T-HDR-022')
    const { url } = await spied()
    const { message } = await askModern(url, { method: 'tools/list' })
    const tool = message.result?.tools.find((each: Message) => each.name === 'where')
    expect(tool.inputSchema.properties.region).toEqual({ type: 'string', 'x-mcp-header': 'Region' })
    const missing = await askModern(url, callTool('where', { region: 'eu' }))
    expectMismatch(missing, /Mcp-Param-Region is missing/)
    expect((await askModern(url, callTool('where', { region: 'eu' }), { 'mcp-param-region': 'eu' })).status).toBe(200)
  })

  test('a nested argument is mirrored from its place', async () => {
    proves('R-HDR-016', 'R-HDR-018')
    const { url } = await spied()
    const call = callTool('where', { deep: { zone: 'a b' } })
    expect((await askModern(url, call, { 'mcp-param-zone': 'a b' })).status).toBe(200)
    expectMismatch(await askModern(url, call, { 'mcp-param-zone': 'a' }), /Mcp-Param-Zone says "a", but the message says "a b"/)
  })

  test('no header is expected for an argument that is null or absent', async () => {
    proves('T-HDR-044', 'R-HDR-031')
    const { url } = await spied()
    expect((await askModern(url, callTool('where', {}))).status).toBe(200)
    const { status, message } = await askModern(url, callTool('where', { region: null }))
    // It is the schema that does not take null, not the header.
    expect([status, message.error?.code]).not.toEqual([400, -32020])
  })

  test('Base64 values are compared after decoding', async () => {
    proves('T-HDR-037', 'T-HDR-041', 'R-HDR-025')
    const { url } = await spied()
    const encoded = (text: string) => `=?base64?${Buffer.from(text).toString('base64')}?=`
    for (const value of ['eu', 'größe', 'line1\nline2', ' padded ', '=?base64?ZXU=?=', '世界'])
      expect((await askModern(url, callTool('where', { region: value }), { 'mcp-param-region': encoded(value) })).status).toBe(200)
    const read = { method: 'resources/read', params: { uri: 'file:///größe' } }
    const named = await askModern(url, read, { 'mcp-name': encoded('file:///größe') })
    expect([named.status, named.message.result?.contents[0].text]).toEqual([200, 'text'])
    expect((await askModern(url, { method: 'prompts/get', params: { name: 'p' } })).status).toBe(200)
    // A value that looks like Base64 but was meant as it stands must have been encoded.
    expectMismatch(
      await askModern(url, callTool('where', { region: '=?base64?ZXU=?=' }), { 'mcp-param-region': '=?base64?ZXU=?=' }),
      /says "eu"/,
    )
  })

  test('a header holds visible ASCII, space and tab, and nothing else', () => {
    proves('T-HDR-034')
    for (let code = 0; code < 256; code++) {
      const isAllowed = code === 9 || (code >= 0x20 && code <= 0x7e)
      expect(decodeHeaderValue(`a${String.fromCharCode(code)}b`) !== undefined, `0x${code.toString(16)}`).toBe(isAllowed)
    }
  })

  test('headers for arguments that are not mirrored are ignored', async () => {
    const { url } = await spied()
    expect((await askModern(url, callTool('where', {}), { 'mcp-param-unknown': 'x' })).status).toBe(200)
  })

  const NAMES: [string, Message, ...string[]][] = [
    ['is empty', { a: { type: 'string', 'x-mcp-header': '' } }, 'T-HDR-023'],
    ['has a space', { a: { type: 'string', 'x-mcp-header': 'My Region' } }, 'T-HDR-024'],
    ['has a colon', { a: { type: 'string', 'x-mcp-header': 'a:b' } }, 'T-HDR-024'],
    ['is not ASCII', { a: { type: 'string', 'x-mcp-header': 'Größe' } }, 'T-HDR-024'],
    [
      'is there twice but for its letters',
      { a: { type: 'string', 'x-mcp-header': 'R' }, b: { type: 'string', 'x-mcp-header': 'r' } },
      'T-HDR-025',
    ],
    ['is for an object', { a: { type: 'object', 'x-mcp-header': 'A' } }, 'T-HDR-026'],
    ['is for an array', { a: { type: 'array', 'x-mcp-header': 'A' } }, 'T-HDR-026'],
    ['is for a number', { a: { type: 'number', 'x-mcp-header': 'A' } }],
    ['has a bracket', { a: { type: 'string', 'x-mcp-header': 'a(b' } }],
    ['has a line break', { a: { type: 'string', 'x-mcp-header': 'A\r\nX: y' } }],
    ['stands below items', { a: { type: 'array', items: { type: 'string', 'x-mcp-header': 'A' } } }],
    ['stands below oneOf', { a: { oneOf: [{ type: 'string', 'x-mcp-header': 'A' }] } }],
  ]
  test.each(NAMES)('a tool whose header name %s cannot be defined', (_what, properties, ...ids) => {
    proves('R-HDR-012', 'R-HDR-013', 'R-HDR-014', 'R-HDR-016', 'R-HDR-017', ...ids)
    expect(() => testServer().tool('t', { input: { type: 'object', properties } }, () => 'x')).toThrow(
      expect.objectContaining({ code: 'ERR_DEFINITION' }),
    )
  })
})

describe('headers in revisions with sessions', () => {
  test.each(STREAMABLE)('in %s mirrored headers are optional, but a wrong one is refused with -32001', async (revision) => {
    proves('T-HDR-012', 'T-HDR-013', 'R-VER-007', 'R-VER-012')
    const { url, called } = await spied()
    const session = await openSession(url, revision)
    expect((await session.ask(callTool('where', { region: 'eu' }))).status).toBe(200)
    expect((await session.ask(callTool('where', { region: 'eu' }), { 'mcp-method': 'tools/call', 'mcp-name': 'where' })).status).toBe(200)
    called.mockClear()
    const lies: Record<string, string>[] = [{ 'mcp-method': 'tools/list' }, { 'mcp-name': 'hi' }, { 'mcp-param-region': 'us' }]
    for (const headers of lies) {
      const { status, message } = await session.ask(callTool('where', { region: 'eu' }), headers)
      expect([status, message.error?.code, message.id]).toEqual([400, -32001, 1])
    }
    expect(called).not.toHaveBeenCalled()
  })

  test('requireMcpHeaders requires mirrored headers in sessions too', async () => {
    const { url } = await spied({ requireMcpHeaders: true })
    const without = await http(url, { body: { jsonrpc: '2.0', id: 1, method: 'initialize', params: {} } })
    expect([without.status, without.message.error?.code]).toEqual([400, -32001])
    const opened = await openSession(url, '2025-11-25', { headers: { 'mcp-method': 'initialize' } }).catch((error: Error) => error.message)
    // The notification of the helper carries the wrong method, and is refused for it.
    expect(opened).toMatch(/Not initialized: 400 .*Mcp-Method says/)
  })

  test.each(['abc', '1999-01-01', '2025-11-26', ''])('MCP-Protocol-Version %j is answered 400 on POST and GET', async (version) => {
    proves('T-HDR-004')
    const { url } = await spied()
    const session = await openSession(url, '2025-11-25')
    const headers = { 'mcp-protocol-version': version }
    const posted = await session.ask(callTool('where', {}), headers)
    const got = await http(url, { method: 'GET', headers: { ...session.headers, ...headers } })
    for (const { status, message } of [posted, got]) expect([status, message.error?.code]).toEqual([400, -32600])
    expect((await session.ask(callTool('where', {}))).status).toBe(200)
  })

  test('without the header the session decides the version, and 2025-03-26 without a session', async () => {
    proves('T-HDR-003', 'R-HDR-007')
    const { url } = await spied()
    const session = await openSession(url, '2025-11-25')
    const { 'mcp-session-id': id } = session.headers
    const inSession = await http(url, {
      headers: { 'mcp-session-id': id as string },
      body: { jsonrpc: '2.0', id: 1, ...callTool('where', {}) },
    })
    expect(inSession.status).toBe(200)
    const server = testServer()
    server.tool('which', {}, (_args, ctx) => ctx.caller.revision)
    const without = await serve(server, { sessions: false })
    const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'which' } }
    expect((await http(without.url, { body })).message.result?.content[0].text).toBe('2025-03-26')
    const said = await http(without.url, { body, headers: { 'mcp-protocol-version': '2025-06-18' } })
    expect(said.message.result?.content[0].text).toBe('2025-06-18')
  })

  test('a stateless request must have its version in the message too', async () => {
    proves('R-META-005')
    const { url } = await spied()
    const headers = { 'mcp-protocol-version': MODERN, 'mcp-method': 'tools/list' }
    const { status, message } = await http(url, { headers, body: { jsonrpc: '2.0', id: 1, method: 'tools/list' } })
    expect([status, message.error?.code]).toEqual([400, -32602])
    const { 'io.modelcontextprotocol/clientCapabilities': _left, ...meta } = envelope()
    const body = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta: meta } }
    const without = await http(url, { headers, body })
    expect([without.status, without.message.error?.code]).toEqual([400, -32602])
  })
})

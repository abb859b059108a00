import { describe, expect, test } from 'vitest'
import { apps, type ViewDefinition } from '../../src/apps/index.ts'
import { createServer, type ToolDefinition } from '../../src/server/index.ts'
import { pair } from '../../src/testing/index.ts'
import { proves } from '../support/proves.ts'
import { envelope, type Message, rawChannel } from '../support/raw-channel.ts'

const APPS = 'io.modelcontextprotocol/ui'
const TYPE = 'text/html;profile=mcp-app'
const SHOWS_APPS = { extensions: { [APPS]: { mimeTypes: [TYPE] } } }
const HTML = '<!doctype html><title>Dice</title><p id="sum"></p>'
const BOARD = 'ui://dice/board'

function newServer(view: Partial<ViewDefinition> = {}) {
  const server = createServer({ name: 'dice', version: '1', onError: () => {} })
  server.extend(apps({ [BOARD]: { html: HTML, ...view } }))
  server.tool('roll', { view: BOARD, _meta: { 'com.example/kind': 'game' } }, () => ({ sum: 7 }))
  server.tool('again', { view: BOARD, visibleTo: ['app'] }, () => 'again')
  server.tool('count', { visibleTo: ['model'] }, () => '1')
  server.tool('empty', { view: BOARD }, () => {})
  server.tool('plain', {}, () => 'plain')
  return server
}

const namesOf = ({ result }: Message): string[] => result.tools.map(({ name }: { name: string }) => name)

describe('a server with views', () => {
  test('gives clients that show apps the view and the audience of each tool', async () => {
    proves('R-APP-001', 'R-APP-007', 'R-APP-032')
    const raw = rawChannel(newServer())
    const { result } = await raw.ask('tools/list', { _meta: envelope(SHOWS_APPS) })
    expect(result.tools.map(({ name, _meta }: Record<string, unknown>) => [name, _meta])).toEqual([
      ['roll', { 'com.example/kind': 'game', ui: { resourceUri: BOARD } }],
      ['again', { ui: { resourceUri: BOARD, visibility: ['app'] } }],
      ['count', { ui: { visibility: ['model'] } }],
      ['empty', { ui: { resourceUri: BOARD } }],
      ['plain', undefined],
    ])
    const { result: discovered } = await raw.ask('server/discover', { _meta: envelope() })
    expect(discovered.capabilities.extensions).toEqual({ [APPS]: {} })
    expect((await raw.ask('tools/call', { name: 'again', arguments: {}, _meta: envelope(SHOWS_APPS) })).result.isError).toBeUndefined()
  })

  test('gives other clients plain tools, and hides those for apps', async () => {
    proves('R-APP-029')
    const raw = rawChannel(newServer())
    for (const declared of [{}, { extensions: { [APPS]: {} } }, { extensions: { [APPS]: { mimeTypes: ['text/html'] } } }]) {
      const listed = await raw.ask('tools/list', { _meta: envelope(declared) })
      expect(namesOf(listed)).toEqual(['roll', 'count', 'empty', 'plain'])
      expect(listed.result.tools[0]._meta).toEqual({ 'com.example/kind': 'game' })
      expect(listed.result.tools[1]).not.toHaveProperty('_meta')
      const called = await raw.ask('tools/call', { name: 'again', arguments: {}, _meta: envelope(declared) })
      expect(called.error.message).toBe('Unknown tool: again')
      const rolled = await raw.ask('tools/call', { name: 'roll', arguments: {}, _meta: envelope(declared) })
      expect(rolled.result.content).toEqual([{ type: 'text', text: '{"sum":7}' }])
    }
  })

  test.each(['2025-06-18', '2025-11-25'])('reads the declaration of an older session: %s', async (revision) => {
    proves('R-APP-001')
    const raw = rawChannel(newServer())
    await raw.initialize(revision, SHOWS_APPS)
    expect(namesOf(await raw.ask('tools/list'))).toContain('again')
    const plain = rawChannel(newServer())
    await plain.initialize(revision)
    expect(namesOf(await plain.ask('tools/list'))).not.toContain('again')
  })

  test.each(['2025-06-18', '2026-07-28'])('is told by our client that it shows apps: %s', async (revision) => {
    const { client, close } = await pair(newServer(), { revisions: [revision], extensions: { [APPS]: { mimeTypes: [TYPE] } } })
    expect((await client.tools().all()).map(({ name }) => name)).toContain('again')
    await close()
  })

  test('serves a view as an HTML document with what it declares', async () => {
    proves('R-APP-002', 'R-APP-003', 'R-APP-010')
    const csp = { connectDomains: ['https://api.example.com', 'wss://live.example.com:8443'], resourceDomains: ['https://*.example.com'] }
    const raw = rawChannel(newServer({ csp, permissions: { camera: {} }, prefersBorder: true, domain: 'dice', title: 'Dice' }))
    const { result } = await raw.ask('resources/read', { uri: BOARD, _meta: envelope() })
    const ui = { csp, permissions: { camera: {} }, prefersBorder: true, domain: 'dice' }
    expect(result.contents).toEqual([{ uri: BOARD, mimeType: TYPE, text: HTML, _meta: { ui } }])
    const { result: listed } = await raw.ask('resources/list', { _meta: envelope() })
    expect(listed.resources).toEqual([])
  })

  test('calls a function for the page each time it is read', async () => {
    let count = 0
    const raw = rawChannel(newServer({ html: async () => `<!-- made -->\n<!DOCTYPE html><p>${++count}` }))
    for (const number of [1, 2]) {
      const { result } = await raw.ask('resources/read', { uri: BOARD, _meta: envelope() })
      expect(result.contents[0]).toEqual({ uri: BOARD, mimeType: TYPE, text: `<!-- made -->\n<!DOCTYPE html><p>${number}` })
    }
    const bad = rawChannel(newServer({ html: () => '<p>no document' }))
    expect((await bad.ask('resources/read', { uri: BOARD, _meta: envelope() })).error.code).toBe(-32603)
  })

  test('refuses the result of a tool with a view that has no content', async () => {
    proves('R-APP-030')
    const raw = rawChannel(newServer())
    const { error } = await raw.ask('tools/call', { name: 'empty', arguments: {}, _meta: envelope(SHOWS_APPS) })
    expect(error).toMatchObject({ code: -32603, message: 'Tool "empty": a tool with a view must return content for clients without it' })
    const { result } = await raw.ask('tools/call', { name: 'roll', arguments: {}, _meta: envelope(SHOWS_APPS) })
    expect(result).toMatchObject({ content: [{ type: 'text', text: '{"sum":7}' }], structuredContent: { sum: 7 } })
  })
})

describe('the definition of a view', () => {
  const define = (uri: string, view: unknown) => () => apps({ [uri]: view as ViewDefinition })

  test.each<[string, string, unknown, string]>([
    ['another scheme', 'https://dice/board', { html: HTML }, 'the URI must begin with "ui://"'],
    ['a template', 'ui://dice/{id}', { html: HTML }, 'no variables'],
    ['no document', BOARD, { html: '<p>Hello' }, 'begins with <!doctype html>'],
    ['no page', BOARD, {}, 'html must be a string or a function, not undefined'],
    ['an unknown member', BOARD, { html: HTML, cps: {} }, 'unknown member "cps"'],
    ['an unknown list of addresses', BOARD, { html: HTML, csp: { fontDomains: [] } }, 'unknown member "fontDomains" of csp'],
    ['a keyword as address', BOARD, { html: HTML, csp: { connectDomains: ["'unsafe-eval'"] } }, 'connectDomains must list origins'],
    ['a second directive', BOARD, { html: HTML, csp: { connectDomains: ['https://a.b; script-src *'] } }, 'must list origins'],
    ['a list of permissions', BOARD, { html: HTML, permissions: ['camera'] }, 'permissions must be an object such as { camera: {} }'],
    ['an unknown permission', BOARD, { html: HTML, permissions: { usb: {} } }, 'unknown permission "usb"'],
  ])('is refused with %s', (_what, uri, view, message) => {
    proves('R-APP-002')
    expect(define(uri, view)).toThrow(message)
  })

  test('is needed by apps()', () => {
    expect(() => apps(undefined as never)).toThrow("expected the views by their URI, such as { 'ui://dice/board': { html } }")
  })

  test('must come before the tools that use it', () => {
    proves('R-APP-008')
    const server = createServer({ name: 'dice', version: '1' })
    const tool = (definition: ToolDefinition) => () => server.tool('roll', definition, () => 'x')
    expect(tool({ view: BOARD })).toThrow('views need server.extend(apps({ ... })) of portico/apps')
    server.extend(apps({ [BOARD]: { html: HTML } }))
    expect(tool({ view: 'ui://dice/other' })).toThrow('Tool "roll": apps() defines no view "ui://dice/other"')
    expect(tool({ visibleTo: [] })).toThrow('visibleTo must list "model", "app" or both')
    expect(tool({ visibleTo: ['person'] as never })).toThrow('not ["person"]')
    expect(tool({ view: BOARD })).not.toThrow()
  })
})

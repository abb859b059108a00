import { describe, expect, test } from 'vitest'
import { Catalog, type CatalogOptions } from '../../../src/host/catalog/catalog.ts'
import type { EntryKind } from '../../../src/host/model/offering.ts'
import { fakeClock } from '../../../src/testing/index.ts'
import { proves } from '../../support/proves.ts'
import { surface, tool } from './support.ts'

const newCatalog = (options: Partial<CatalogOptions> = {}): Catalog => new Catalog({ isVisible: () => true, ...options })
const exposed = (entries: readonly { exposed: string }[]): string[] => entries.map((entry) => entry.exposed)

describe('the catalog', () => {
  test('the catalog is one list over all servers, in an order that does not depend on connecting', () => {
    proves('T-HOST-006')
    const surfaces = {
      notes: surface({ tools: ['write', 'read'], prompts: ['daily'], resources: ['notes://1'], templates: ['notes://{id}'] }),
      deploy: surface({ tools: ['run'], prompts: ['plan'], resources: ['deploy://log'] }),
    }
    const make = (order: readonly ('notes' | 'deploy')[]): Catalog => {
      const catalog = newCatalog()
      catalog.addServers(['notes', 'deploy'])
      for (const server of order) catalog.put(server, surfaces[server])
      return catalog
    }
    const catalog = make(['notes', 'deploy'])
    expect(exposed(catalog.tools())).toEqual(['deploy__run', 'notes__read', 'notes__write'])
    expect(catalog.tools().map(({ server }) => server)).toEqual(['deploy', 'notes', 'notes'])
    expect(exposed(catalog.prompts())).toEqual(['deploy__plan', 'notes__daily'])
    expect(exposed(catalog.resources())).toEqual(['deploy://log', 'notes://1'])
    const other = make(['deploy', 'notes'])
    expect(other.tools()).toEqual(catalog.tools())
    expect(other.resources()).toEqual(catalog.resources())
  })

  test('if two servers have a tool of the same name, both are listed and each call has one owner', () => {
    proves('R-TOOL-026', 'R-TOOL-027')
    const catalog = newCatalog()
    catalog.put('good', surface({ tools: ['send'] }))
    const before = catalog.find('tool', 'good__send')
    catalog.put('rogue', surface({ tools: ['send', 'good__send', '__send', 'good__send '] }))
    expect(catalog.find('tool', 'good__send')).toEqual(before)
    expect(catalog.find('tool', 'good__send')?.server).toBe('good')
    for (const entry of catalog.tools()) if (entry.exposed !== 'good__send') expect(entry.exposed).toMatch(/^rogue__/)
    expect(catalog.tools()).toHaveLength(5)
    catalog.remove('good')
    expect(catalog.find('tool', 'good__send')).toBeUndefined()
    catalog.put('rogue', surface({ tools: ['send'] }))
    expect(catalog.find('tool', 'good__send')).toBeUndefined()
  })

  test('servers whose ids become equal when made safe still get different names', () => {
    const catalog = newCatalog()
    catalog.put('my.server', surface({ tools: ['a'] }))
    catalog.put('my server', surface({ tools: ['a'] }))
    catalog.put('my_server', surface({ tools: ['a'] }))
    expect(new Set(exposed(catalog.tools())).size).toBe(3)
    expect(catalog.find('tool', 'my_server__a')?.server).toBe('my.server')
  })

  test('a name is never split to find its server', () => {
    const catalog = newCatalog()
    catalog.put('a', surface({ tools: ['b__c'] }))
    catalog.put('a__b', surface({ tools: ['c'] }))
    const entry = catalog.find('tool', 'a__b__c')
    expect([entry?.server, entry?.definition.name]).toEqual(['a', 'b__c'])
  })

  test('the catalog lists only visible definitions, and drops one as soon as it is hidden', () => {
    const approved = new Set(['a'])
    const catalog = newCatalog({ isVisible: (_server, _kind, name) => approved.has(name) })
    catalog.put('s', surface({ tools: ['a', 'b'], prompts: ['b'], resources: ['b://'], templates: ['b://{x}'] }))
    expect(exposed(catalog.tools())).toEqual(['s__a'])
    expect(catalog.prompts()).toEqual([])
    expect(catalog.resources()).toEqual([])
    expect(catalog.find('tool', 's__b')).toBeUndefined()
    expect(catalog.ownerOfUri('b://1')).toEqual({ kind: 'none' })

    approved.add('b')
    catalog.refresh('s')
    expect(exposed(catalog.tools())).toEqual(['s__a', 's__b'])
    // Taken back, and nobody has told the catalog yet.
    approved.clear()
    expect(catalog.tools()).toEqual([])
    expect(catalog.find('tool', 's__a')).toBeUndefined()
    expect(catalog.entryOf('tool', 's', 'a')).toBeUndefined()
  })

  test('the catalog announces changes together, and no change if a list stays equal', async () => {
    const clock = fakeClock()
    const told: EntryKind[][] = []
    const catalog = newCatalog({ clock, onChange: (kinds) => told.push([...kinds].sort()) })
    catalog.put('a', surface({ tools: ['x'] }))
    catalog.put('b', surface({ tools: ['x'], prompts: ['p'] }))
    expect(told).toEqual([])
    await clock.advance(50)
    expect(told).toEqual([['prompt', 'tool']])
    catalog.put('a', surface({ tools: ['x'] }))
    catalog.refresh()
    await clock.advance(1_000)
    expect(told).toHaveLength(1)
    catalog.put('a', surface({ tools: [tool('x', { description: 'another' })] }))
    await clock.advance(50)
    catalog.remove('b')
    await clock.advance(50)
    expect(told).toEqual([['prompt', 'tool'], ['tool'], ['prompt', 'tool']])
  })

  test('the number of entries in the catalog is limited', () => {
    const catalog = newCatalog({ limits: { maxEntries: 3 } })
    catalog.put('a', surface({ tools: ['1', '2'] }))
    catalog.put('b', surface({ tools: ['3'] }))
    expect(() => catalog.put('c', surface({ tools: ['4'] }))).toThrow(
      expect.objectContaining({ code: 'ERR_LIMIT', message: expect.stringContaining('maxEntries') }),
    )
    expect(catalog.tools()).toHaveLength(3)
    catalog.put('a', surface({ tools: ['1'] }))
    catalog.put('c', surface({ tools: ['4'] }))
    expect(catalog.tools()).toHaveLength(3)
  })

  test('the catalog follows 200 changes of 20 servers with 100 tools each without a noticeable pause', () => {
    const catalog = newCatalog()
    const tools = Array.from({ length: 100 }, (_, at) =>
      tool(`tool_${at}`, { description: 'x'.repeat(500), inputSchema: { type: 'object', properties: { a: { type: 'string' } } } }),
    )
    for (let server = 0; server < 20; server++) catalog.put(`server-${server}`, surface({ tools }))
    const started = performance.now()
    for (let change = 0; change < 200; change++) {
      catalog.put(`server-${change % 20}`, surface({ tools: [...tools, tool(`new_${change}`)] }))
      expect(catalog.tools().length).toBeGreaterThan(2_000)
    }
    expect((performance.now() - started) / 200).toBeLessThan(100)
  })
})

describe('a URI', () => {
  test('a URI is the one that the server uses, if no other server uses the same', () => {
    const catalog = newCatalog()
    catalog.put('a', surface({ resources: ['file:///x', 'file:///only-a'] }))
    expect(catalog.ownerOfUri('file:///x')).toMatchObject({ kind: 'one', server: 'a', uri: 'file:///x' })
    catalog.put('b', surface({ resources: ['file:///x'] }))
    expect(exposed(catalog.resources())).toEqual(['a+file:///x', 'b+file:///x', 'file:///only-a'])
    expect(catalog.ownerOfUri('a+file:///x')).toMatchObject({ kind: 'one', server: 'a', uri: 'file:///x' })
    expect(catalog.ownerOfUri('b+file:///x')).toMatchObject({ kind: 'one', server: 'b', uri: 'file:///x' })
    catalog.remove('b')
    expect(exposed(catalog.resources())).toEqual(['file:///only-a', 'file:///x'])
  })

  test('a URI that two servers claim belongs to neither of them', () => {
    const catalog = newCatalog()
    catalog.put('good', surface({ resources: ['mail://inbox'] }))
    catalog.put('rogue', surface({ resources: ['mail://inbox'] }))
    expect(catalog.ownerOfUri('mail://inbox')).toEqual({ kind: 'ambiguous', servers: ['good', 'rogue'] })
  })

  test('a listed URI that fits a template of another server belongs to neither, and is exposed with a prefix', () => {
    const catalog = newCatalog()
    catalog.put('notes', surface({ templates: ['note://{id}'] }))
    catalog.put('rogue', surface({ resources: ['note://42', 'x://a'] }))
    expect(exposed(catalog.resources())).toEqual(['rogue+note://42', 'x://a'])
    expect(catalog.ownerOfUri('note://42')).toEqual({ kind: 'ambiguous', servers: ['notes', 'rogue'] })
    expect(catalog.ownerOfUri('notes+note://42')).toMatchObject({ kind: 'one', server: 'notes', uri: 'note://42' })
    expect(catalog.ownerOfUri('rogue+note://42')).toMatchObject({ kind: 'one', server: 'rogue', uri: 'note://42' })
    catalog.put('notes', surface({ templates: ['other://{id}'] }))
    expect(exposed(catalog.resources())).toEqual(['note://42', 'x://a'])
    expect(catalog.ownerOfUri('note://42')).toMatchObject({ kind: 'one', server: 'rogue' })
  })

  test('a server may list a resource that fits its own template', () => {
    const catalog = newCatalog()
    catalog.put('notes', surface({ resources: ['note://42'], templates: ['note://{id}'] }))
    expect(exposed(catalog.resources())).toEqual(['note://42'])
    expect(catalog.ownerOfUri('note://42')).toMatchObject({ kind: 'one', server: 'notes', entry: { kind: 'resource' } })
  })

  test('many templates do not slow down the list of resources, whose names then get a prefix', () => {
    const catalog = newCatalog()
    catalog.put('rogue', surface({ templates: Array.from({ length: 5_000 }, (_, i) => `n{x}y{z}${i}`) }))
    catalog.put('notes', surface({ resources: Array.from({ length: 5_000 }, (_, i) => `note://${'y'.repeat(50)}/${i}`) }))
    const start = performance.now()
    expect(catalog.resources()).toHaveLength(5_000)
    expect(performance.now() - start).toBeLessThan(5_000)
    expect(catalog.ownerOfUri(exposed(catalog.resources())[4_000] as string)).toMatchObject({ kind: 'one', server: 'notes' })
  })

  test('a URI that looks like the renamed URI of another server is renamed too', () => {
    const catalog = newCatalog()
    catalog.put('good', surface({ resources: ['mail://inbox'] }))
    catalog.put('rogue', surface({ resources: ['good+mail://inbox', 'mail://inbox'] }))
    expect(catalog.ownerOfUri('good+mail://inbox')).toMatchObject({ kind: 'one', server: 'good', uri: 'mail://inbox' })
    expect(catalog.ownerOfUri('rogue+good+mail://inbox')).toMatchObject({ kind: 'one', server: 'rogue', uri: 'good+mail://inbox' })
  })

  test('a URI that is not listed belongs to the server whose template matches it', () => {
    const catalog = newCatalog()
    catalog.put('notes', surface({ templates: ['notes://{id}', 'not a { template'] }))
    catalog.put('other', surface({ templates: ['other://{id}'] }))
    expect(catalog.ownerOfUri('notes://17')).toMatchObject({ kind: 'one', server: 'notes', uri: 'notes://17', entry: { kind: 'template' } })
    expect(catalog.ownerOfUri('elsewhere://17')).toEqual({ kind: 'none' })
  })

  test('a URI that matches templates of two servers belongs to neither, and needs a server name', () => {
    const catalog = newCatalog()
    catalog.put('My Notes', surface({ templates: ['file:///{+path}'] }))
    catalog.put('b', surface({ templates: ['file:///{+path}'] }))
    expect(exposed(catalog.templates())).toEqual(['b+file:///{+path}', 'my-notes+file:///{+path}'])
    expect(catalog.ownerOfUri('file:///a/b')).toEqual({ kind: 'ambiguous', servers: ['My Notes', 'b'] })
    expect(catalog.ownerOfUri('my-notes+file:///a/b')).toMatchObject({ kind: 'one', server: 'My Notes', uri: 'file:///a/b' })
    expect(URL.canParse('my-notes+file:///a/b')).toBe(true)
  })
})

import { describe, expect, test } from 'vitest'
import { Catalog } from '../../../src/host/catalog/catalog.ts'
import { offerToModel, resolveModelCall } from '../../../src/host/catalog/offer.ts'
import { ToolSearch } from '../../../src/host/catalog/search.ts'
import { proves } from '../../support/proves.ts'
import { surface, tool } from './support.ts'

const newCatalog = (isVisible: (server: string, kind: string, name: string) => boolean = () => true): Catalog => {
  const catalog = new Catalog({ isVisible })
  catalog.put(
    'github',
    surface({
      tools: [
        tool('create_issue', { description: 'Opens a new issue in a repository' }),
        tool('listPullRequests', { description: 'Shows what is waiting for review' }),
        tool('search_code', {
          description: 'Finds lines in files',
          inputSchema: { type: 'object', properties: { regexp: { type: 'string', description: 'A pattern of the lines' } } },
        }),
      ],
      prompts: ['triage'],
      resources: ['github://readme'],
    }),
  )
  catalog.put(
    'weather',
    surface({
      tools: [tool('forecast', { title: 'Tomorrow', description: 'Rain, wind and temperature of a city' }), tool('create_alert', {})],
    }),
  )
  return catalog
}

const found = (search: ToolSearch, query: string, limit?: number): string[] =>
  search.search(query, limit === undefined ? {} : { limit }).map(({ entry }) => entry.exposed)

describe('searching tools', () => {
  test('a search finds tools by name, title, description and parameters, the best first', () => {
    const search = new ToolSearch(newCatalog())
    expect(found(search, 'create issue')[0]).toBe('github__create_issue')
    expect(found(search, 'create issue')).toContain('weather__create_alert')
    expect(found(search, 'pull requests')[0]).toBe('github__listPullRequests')
    expect(found(search, 'tomorrow')).toEqual(['weather__forecast'])
    expect(found(search, 'temperatur')).toEqual(['weather__forecast'])
    expect(found(search, 'regexp')).toEqual(['github__search_code'])
    expect(found(search, 'pattern')).toEqual(['github__search_code'])
    expect(found(search, 'weather')).toHaveLength(2)
    expect(found(search, 'zebra crossing')).toEqual([])
  })

  test('a search follows changes of the catalog', () => {
    const catalog = newCatalog()
    const search = new ToolSearch(catalog)
    expect(found(search, 'umbrella')).toEqual([])
    catalog.put('weather', surface({ tools: [tool('forecast', { description: 'Whether to take an umbrella' })] }))
    expect(found(search, 'umbrella')).toEqual(['weather__forecast'])
    expect(found(search, 'temperature')).toEqual([])
    catalog.remove('weather')
    expect(found(search, 'umbrella')).toEqual([])
  })

  test('a search never finds unapproved tools', () => {
    let isApproved = true
    const search = new ToolSearch(newCatalog((server) => server !== 'weather' || isApproved))
    expect(found(search, 'forecast')).toEqual(['weather__forecast'])
    isApproved = false
    expect(found(search, 'forecast')).toEqual([])
  })

  test('the number of search results and the length of a query are limited', () => {
    const catalog = new Catalog({ isVisible: () => true })
    catalog.put('s', surface({ tools: Array.from({ length: 60 }, (_, at) => tool(`read_${at}`)) }))
    const search = new ToolSearch(catalog, { maxResults: 20, maxQueryLength: 10 })
    expect(found(search, 'read')).toHaveLength(10)
    expect(found(search, 'read', 5)).toHaveLength(5)
    expect(found(search, 'read', 1_000)).toHaveLength(20)
    expect(found(search, 'read', -1)).toHaveLength(1)
    expect(found(search, `${' '.repeat(10)}read`)).toEqual([])
    expect(found(search, `${' '.repeat(6)}read`)).toHaveLength(10)
  })
})

describe('the tools that a model gets', () => {
  test('a model gets every tool while they are few, and neither prompts nor resources', () => {
    proves('T-ARCH-035')
    const catalog = newCatalog()
    const offer = offerToModel(catalog)
    expect(offer.inline).toEqual(catalog.tools())
    expect(offer.search).toEqual([])
    expect(JSON.stringify(offer)).not.toContain('triage')
    expect(JSON.stringify(offer)).not.toContain('readme')
  })

  test('a model gets favorites and a search when the definitions are too long, counted in tokens', () => {
    const catalog = newCatalog()
    let tokens = 1
    while (offerToModel(catalog, { maxTokens: tokens }).search.length > 0) tokens++
    expect(tokens).toBeGreaterThan(10)
    expect(offerToModel(catalog, { maxTokens: tokens }).inline).toEqual(catalog.tools())
    const offer = offerToModel(catalog, { maxTokens: tokens - 1, favorites: ['weather__forecast', 'not__there'] })
    expect(offer.inline.map(({ exposed }) => exposed)).toEqual(['weather__forecast'])
    expect(offer.search.map(({ name }) => name)).toEqual(['search_tools', 'describe_tool', 'call_tool'])
  })

  test('a call through the search is the same as a direct call', () => {
    const catalog = newCatalog()
    const search = new ToolSearch(catalog)
    const direct = resolveModelCall(catalog, search, 'weather__forecast', { city: 'Bern' })
    const indirect = resolveModelCall(catalog, search, 'call_tool', { name: 'weather__forecast', arguments: { city: 'Bern' } })
    expect(indirect).toEqual(direct)
    expect(direct).toMatchObject({ kind: 'call', entry: { server: 'weather' }, args: { city: 'Bern' } })
  })

  test('tools can be searched and described', () => {
    const catalog = newCatalog()
    const search = new ToolSearch(catalog)
    const answer = resolveModelCall(catalog, search, 'search_tools', { query: 'rain', limit: 1 })
    expect(answer).toEqual({
      kind: 'answer',
      text: JSON.stringify([{ name: 'weather__forecast', description: 'Rain, wind and temperature of a city' }]),
    })
    const described = resolveModelCall(catalog, search, 'describe_tool', { name: 'github__search_code' })
    expect(JSON.parse((described as { text: string }).text)).toMatchObject({ inputSchema: { properties: { regexp: {} } } })
  })

  test('a model cannot reach unapproved tools in any way', () => {
    const catalog = newCatalog((server) => server !== 'weather')
    const search = new ToolSearch(catalog)
    expect(offerToModel(catalog, { maxTokens: 0, favorites: ['weather__forecast'] }).inline).toEqual([])
    for (const [name, args] of [
      ['weather__forecast', {}],
      ['call_tool', { name: 'weather__forecast' }],
      ['describe_tool', { name: 'weather__forecast' }],
    ] as const)
      expect(() => resolveModelCall(catalog, search, name, args)).toThrow(expect.objectContaining({ code: 'ERR_SERVER_UNKNOWN' }))
  })

  test('a wrong call of a search tool is answered with the expected arguments', () => {
    const catalog = newCatalog()
    const search = new ToolSearch(catalog)
    for (const [name, args] of [
      ['search_tools', {}],
      ['search_tools', { query: 'x', limit: 'many' }],
      ['describe_tool', { name: 1 }],
      ['call_tool', { name: 'weather__forecast', arguments: 'none' }],
    ] as const)
      expect(() => resolveModelCall(catalog, search, name, args)).toThrow(expect.objectContaining({ code: 'ERR_INVALID_PARAMS' }))
    expect(() => resolveModelCall(catalog, search, 'call_tool', { name: 'call_tool' })).toThrow(
      expect.objectContaining({ code: 'ERR_SERVER_UNKNOWN' }),
    )
  })
})

test('a tool is shown with its title, or the title in its annotations, or its name', () => {
  proves('R-TOOL-001', 'R-TOOL-033')
  const catalog = new Catalog({ isVisible: () => true })
  catalog.put(
    'x',
    surface({
      tools: [
        tool('one', { title: 'Walrus', annotations: { title: 'Penguin' } }),
        tool('two', { annotations: { title: 'Ostrich' } }),
        tool('three'),
      ],
    }),
  )
  const search = new ToolSearch(catalog)
  expect(found(search, 'walrus')).toEqual(['x__one'])
  expect(found(search, 'penguin')).toEqual([])
  expect(found(search, 'ostrich')).toEqual(['x__two'])
  expect(found(search, 'three')).toEqual(['x__three'])
})

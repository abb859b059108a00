/** Lists of what servers offer. */

import { describe, expect, test } from 'vitest'
import { catalogRows, findEntry, resourceItem, templateItem, toolBadges, toolItem } from '../../../console/src/state/catalog.ts'
import type { ToolView } from '../../../src/console/api.ts'
import { cpuClock } from '../../support/linear.ts'

const tool = (server: string, name: string, more: Partial<ToolView['definition']> = {}, isReadOnlyAccepted = false): ToolView => ({
  exposed: `${server}__${name}`,
  server,
  definition: { name, inputSchema: { type: 'object' }, ...more },
  isReadOnlyAccepted,
  mayBeTask: false,
})

const keys = (tools: readonly ToolView[], text?: string): string[] => catalogRows(tools.map(toolItem), text).map(({ key }) => key)

describe('rows', () => {
  const tools = [
    tool('notes', 'add', { title: 'Add a note' }),
    tool('deploy', 'plan'),
    tool('notes', 'search', { description: 'Finds notes to add things to' }),
  ]

  test('each server is a heading, followed by what it offers', () => {
    expect(keys(tools)).toEqual(['group notes', 'notes__add', 'notes__search', 'group deploy', 'deploy__plan'])
    expect(catalogRows(tools.map(toolItem))[0]).toMatchObject({ server: 'notes', count: 2 })
  })

  test('every word must occur, also in the server and the description, and names come first', () => {
    expect(keys(tools, 'ADD')).toEqual(['group notes', 'notes__add', 'notes__search'])
    expect(keys([...tools].reverse(), 'add')).toEqual(['group notes', 'notes__add', 'notes__search'])
    expect(keys(tools, 'deploy plan')).toEqual(['group deploy', 'deploy__plan'])
    expect(keys(tools, 'add plan')).toEqual([])
  })

  test('10,000 tools are searched in a moment', () => {
    const many = Array.from({ length: 10_000 }, (_, index) => toolItem(tool('many', `tool_${index}`, { description: 'Does a thing' })))
    const passed = cpuClock()
    expect(catalogRows(many, 'tool 9999')).toHaveLength(2)
    expect(passed()).toBeLessThan(500)
  })
})

describe('badges', () => {
  const words = (view: ToolView): string[] => toolBadges(view).map(({ text, tone }) => `${text} ${tone}`)

  test('what a server says is shown as its words, and what the person accepted as fine', () => {
    expect(words(tool('a', 'b', { annotations: { readOnlyHint: true } }))).toEqual(['read-only plain'])
    expect(words(tool('a', 'b', {}, true))).toEqual(['read-only fine'])
    expect(words(tool('a', 'b', { annotations: { destructiveHint: true, openWorldHint: true } }))).toEqual([
      'destructive danger',
      'leaves this computer waiting',
    ])
    expect(words(tool('a', 'b'))).toEqual([])
  })
})

test('names that hide or reorder letters are made visible', () => {
  expect(toolItem(tool('a', 'pay\u202Edrawer')).title).not.toContain('\u202E')
})

test('an address names a tool by its unique name or by server and name', () => {
  const tools = [tool('a', 'b/c'), tool('a', 'd')]
  expect(findEntry(tools, 'a__d')?.definition.name).toBe('d')
  expect(findEntry(tools, 'a/b/c')?.definition.name).toBe('b/c')
  expect(findEntry(tools, 'd')).toBeUndefined()
  expect(findEntry(tools, undefined)).toBeUndefined()
})

test('resources and templates show their address', () => {
  expect(resourceItem({ exposed: 'x', server: 's', definition: { uri: 'note://1', name: 'One' } })).toMatchObject({
    key: 'uri note://1',
    title: 'One',
    about: 'note://1',
  })
  expect(templateItem({ exposed: 'x', server: 's', definition: { uriTemplate: 'note://{id}', name: 'Note' } })).toMatchObject({
    key: 'template s note://{id}',
    badges: [{ text: 'template' }],
  })
})

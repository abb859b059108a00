/** A server inside another one. */

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { createServer, type Server } from '../../src/server/index.ts'
import { temporaryFolders } from '../support/folders.ts'
import { connectPair, REVISIONS } from '../support/judged-pair.ts'

const newFolder = temporaryFolders()

const newServer = (name: string) => createServer({ name, version: '1', onError: () => {} })

const weather = (): Server => {
  const server = newServer('weather')
  server.tool('forecast', { description: 'Forecast', input: z.object({ city: z.string() }) }, ({ city }) => `Clear in ${city}`)
  server.resource('station://{id}', { name: 'station', complete: { id: () => ['north'] } }, ({ id }) => `Station ${id}`)
  server.resource('stations://all', { name: 'stations' }, () => 'north, south')
  server.prompt('report', { input: z.object({ city: z.string() }) }, ({ city }) => `Report on ${city}`)
  return server
}

const text = (result: { content: unknown[] }): unknown => (result.content[0] as { text?: unknown }).text

describe.each(REVISIONS)('a mounted server in %s', (revision) => {
  test('its tools and prompts have the prefix, its resources keep their URIs', async () => {
    const server = newServer('outer')
    server.tool('own', () => 'mine')
    server.mount('weather', weather())
    const { client } = await connectPair(server, { revision })
    expect((await client.tools().all()).map(({ name }) => name)).toEqual(['own', 'weather_forecast'])
    expect(text(await client.call('weather_forecast', { city: 'Oslo' }))).toBe('Clear in Oslo')
    expect((await client.prompts().all()).map(({ name }) => name)).toEqual(['weather_report'])
    expect(await client.prompt('weather_report', { city: 'Oslo' })).toMatchObject({ messages: [{ content: { text: 'Report on Oslo' } }] })
    expect(await client.read('stations://all')).toMatchObject({ contents: [{ text: 'north, south' }] })
    expect(await client.read('station://north')).toMatchObject({ contents: [{ text: 'Station north' }] })
    await expect(client.call('forecast', { city: 'Oslo' })).rejects.toThrow('Unknown tool: forecast')
  })
})

test.each(['2025-06-18', '2025-11-25', '2026-07-28'])('a handler of a mounted server can ask the person in %s', async (revision) => {
  const inner = newServer('inner')
  inner.tool('greet', {}, async (_args, ctx) => `Hello ${(await ctx.elicit('name', 'Your name?', z.object({ name: z.string() }))).name}`)
  const server = newServer('outer')
  server.mount('x', inner)
  const answer = { elicit: () => ({ action: 'accept' as const, content: { name: 'Ada' } }) }
  const { client } = await connectPair(server, { revision, answer })
  expect(text(await client.call('x_greet'))).toBe('Hello Ada')
})

test('later definitions, changes and removals reach the outer server', async () => {
  const inner = weather()
  const server = newServer('outer')
  server.mount('w', inner)
  const { client } = await connectPair(server, { revision: '2025-11-25' })
  const names = async () => (await client.tools().all()).map(({ name }) => name)
  const later = inner.tool('later', () => 'one')
  await expect.poll(names).toEqual(['w_forecast', 'w_later'])
  later.update({ description: 'Changed' }, () => 'two')
  await expect.poll(async () => (await client.tools().all()).find(({ name }) => name === 'w_later')?.description).toBe('Changed')
  expect(text(await client.call('w_later'))).toBe('two')
  later.disable()
  await expect.poll(names).toEqual(['w_forecast'])
  later.update({ description: 'Still off' })
  await expect.poll(names).toEqual(['w_forecast'])
  later.enable()
  await expect.poll(names).toEqual(['w_forecast', 'w_later'])
  later.remove()
  await expect.poll(names).toEqual(['w_forecast'])
})

test('subscribers of the outer server hear of changed resources of the inner one', async () => {
  const inner = weather()
  const server = newServer('outer')
  server.mount('w', inner)
  const { client } = await connectPair(server, { revision: '2025-11-25' })
  const changed: string[] = []
  await client.onResourceChange('stations://all', (uri) => changed.push(uri))
  inner.resourceChanged('stations://all')
  await expect.poll(() => changed).toEqual(['stations://all'])
})

test('middleware of the outer server runs first, that of the inner one sees its own names', async () => {
  const inner = weather()
  const server = newServer('outer')
  const seen: string[] = []
  inner.use((call, next) => {
    seen.push(`inner ${call.method} ${call.target} ${String(call.params.name ?? call.params.uri)}`)
    return next()
  })
  inner.use((call, next) => next({ params: { ...call.params, arguments: { city: 'Rome' } } }))
  server.mount('w', inner)
  server.tool('own', () => 'mine')
  server.use((call, next) => {
    seen.push(`outer ${call.method} ${call.target}`)
    return next()
  })
  const { client } = await connectPair(server, { revision: '2025-11-25' })
  seen.length = 0
  expect(text(await client.call('w_forecast', { city: 'Oslo' }))).toBe('Clear in Rome')
  await client.call('own')
  await client.read('stations://all')
  expect(seen).toEqual([
    'outer tools/call w_forecast',
    'inner tools/call forecast forecast',
    'outer tools/call own',
    'outer resources/read stations://all',
    'inner resources/read stations://all stations://all',
  ])
})

test('servers can be mounted several levels deep, but not in themselves', async () => {
  const [inner, middle, outer] = [weather(), newServer('middle'), newServer('outer')] as const
  outer.mount('a', middle)
  middle.mount('b', inner)
  const { client } = await connectPair(outer, { revision: '2025-11-25' })
  expect(text(await client.call('a_b_forecast', { city: 'Oslo' }))).toBe('Clear in Oslo')
  expect(() => inner.mount('c', outer)).toThrow('"outer" cannot be mounted in itself')
  expect(() => inner.mount('c', inner)).toThrow('"weather" cannot be mounted in itself')
})

test('a name that exists already is refused, when mounting and later', async () => {
  const server = newServer('outer')
  const inner = weather()
  server.tool('w_forecast', () => 'mine')
  expect(() => server.mount('w', inner)).toThrow('The tool "w_forecast" is already defined')
  const other = newServer('other')
  const outer = newServer('outer')
  outer.mount('o', other)
  outer.tool('o_x', () => 'mine')
  expect(() => other.tool('x', () => 'theirs')).toThrow('The tool "o_x" is already defined')
  const { client } = await connectPair(other, { revision: '2025-11-25' })
  await expect(client.call('x')).rejects.toThrow()
})

test('wrong prefixes and other objects are refused', () => {
  const server = newServer('outer')
  expect(() => server.mount('a b', weather())).toThrow('got "a b"')
  expect(() => server.mount('a', {} as Server)).toThrow('Only a server made by createServer can be mounted')
})

test.each(['before', 'after'])(
  'skills that a server reads %s it is mounted are there at the first request, and follow the folder',
  async (when) => {
    const folder = newFolder()
    mkdirSync(join(folder, 'refunds'))
    writeFileSync(join(folder, 'refunds', 'SKILL.md'), '---\nname: refunds\ndescription: How to refund\n---\nSlowly.\n')
    const [inner, middle, outer] = [newServer('inner'), newServer('middle'), newServer('outer')]
    const reading = when === 'before' ? inner.skills(folder) : undefined
    middle.mount('inner', inner)
    outer.mount('middle', middle)
    const ready = reading ?? inner.skills(folder)
    // A new client each time, because clients cache lists.
    const uris = async (): Promise<string[]> =>
      (await (await connectPair(outer, { revision: '2026-07-28' })).client.resources().all()).map(({ uri }) => uri)
    expect(await uris()).toEqual(['skill://refunds/SKILL.md'])
    await ready
    writeFileSync(join(folder, 'refunds', 'more.md'), 'More')
    await expect.poll(uris).toContain('skill://refunds/more.md')
    await inner.close()
  },
)

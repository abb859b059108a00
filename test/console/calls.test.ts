/** Saved and recent calls, checks of arguments, search and the tour of a console. */

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { rogueServer } from '../../src/demo/index.ts'
import { allow } from '../../src/host/policy-tools/index.ts'
import { createServer } from '../../src/server/index.ts'
import { consoles, event, Page } from './pages.ts'

const opened = consoles()

const CALL = { title: 'Find the door', kind: 'tool', server: 'notes', name: 'search', args: { query: 'door' } }

test('calls that the person makes are apart: what one read is no reason to ask about the next', async () => {
  const { console, host, asker } = await opened()
  const weather = createServer({ name: 'weather', version: '1' })
  weather.tool('forecast', {}, () => 'Sunny')
  const transport = { type: 'memory' as const, service: weather }
  await host.configure([...host.specs(), { id: 'weather', tier: 'untrusted', provenance: [], transport }])
  await host.settled()
  const reasons: string[] = []
  asker.listen({
    onAsked: (question) => {
      reasons.push(...question.reasons)
      setImmediate(() => asker.answer(question.id, { kind: 'allow', scope: 'always' }))
    },
    onEnded: () => {},
  })
  const page = await Page.open(console)
  await page.run('POST /api/tools/call', { tool: 'notes__list' })
  for (let count = 0; count < 3; count++) {
    const { error } = await page.run('POST /api/tools/call', { tool: { server: 'weather', name: 'forecast' } })
    expect(error).toBeUndefined()
  }
  expect(reasons.join()).not.toContain('private')
  expect(reasons.filter((text) => text.includes('This tool can change things')).length).toBeLessThan(2)
  await weather.close()
})

test('the page keeps its preferences at the host, within a bound', async () => {
  const { console, folder } = await opened()
  const page = await Page.open(console)
  expect((await page.get('GET /api/preferences')).preferences).toEqual({})
  await page.get('PUT /api/preferences', { preferences: { theme: 'dark' } })
  expect((await page.get('GET /api/preferences')).preferences).toEqual({ theme: 'dark' })
  expect(JSON.parse(readFileSync(join(folder, 'console-preferences.json'), 'utf8'))).toMatchObject({ version: 1 })
  const large = { preferences: { theme: 'x'.repeat(16 * 1024) } }
  expect(await page.fails('PUT /api/preferences', { body: large })).toMatchObject({
    status: 400,
    message: expect.stringContaining('16384'),
  })
})

describe('a saved call', () => {
  test('is stored, changed and removed', async () => {
    const { console, folder } = await opened()
    const page = await Page.open(console)
    const { call } = await page.get('POST /api/calls/saved', CALL)
    expect(call).toMatchObject({ ...CALL, id: expect.any(String), savedAt: expect.any(Number) })
    expect(JSON.parse(readFileSync(join(folder, 'saved-calls.json'), 'utf8'))).toMatchObject({ version: 1 })
    await page.get(`PUT /api/calls/saved/${call.id}`, { ...CALL, title: 'Other' })
    expect((await page.get('GET /api/calls/saved')).calls).toMatchObject([{ id: call.id, title: 'Other' }])
    await page.get(`DELETE /api/calls/saved/${call.id}`)
    expect((await page.get('GET /api/calls/saved')).calls).toEqual([])
    expect((await page.fails(`DELETE /api/calls/saved/${call.id}`)).status).toBe(404)
    expect((await page.fails(`PUT /api/calls/saved/${call.id}`, { body: CALL })).status).toBe(404)
  })

  test('keeps no value that looks like a secret', async () => {
    const { console, folder } = await opened()
    const page = await Page.open(console)
    await page.get('POST /api/calls/saved', {
      ...CALL,
      title: 'With sk-ant-api03-abcdefghijklmnopqrstuvwx',
      args: { password: 'hunter2-hunter2' },
    })
    expect(readFileSync(join(folder, 'saved-calls.json'), 'utf8')).not.toMatch(/hunter2|abcdefghij/)
  })

  test('there are only so many, and each only so large', async () => {
    const { console } = await opened({ console: { limits: { maxSavedCalls: 1 } } })
    const page = await Page.open(console)
    await page.get('POST /api/calls/saved', CALL)
    expect(await page.fails('POST /api/calls/saved', { body: CALL })).toMatchObject({
      status: 429,
      message: expect.stringContaining('(maxSavedCalls)'),
    })
    const large = { ...CALL, args: { query: 'x'.repeat(64 * 1024) } }
    expect((await page.fails('POST /api/calls/saved', { body: large })).status).toBe(400)
  })

  test('a file of a newer version is not touched', async () => {
    const { console, folder } = await opened()
    const page = await Page.open(console)
    const text = JSON.stringify({ version: 99, calls: [] })
    writeFileSync(join(folder, 'saved-calls.json'), text, { mode: 0o600 })
    expect((await page.fails('POST /api/calls/saved', { body: CALL })).message).toContain('update Portico')
    expect(readFileSync(join(folder, 'saved-calls.json'), 'utf8')).toBe(text)
  })
})

test('recent calls come from the audit log, with their arguments and outcomes, newest first', async () => {
  const { console } = await opened({ host: { isBypassing: true } })
  const page = await Page.open(console)
  await page.run('POST /api/tools/call', { tool: 'notes__search', args: { query: 'door' } })
  await page.run('POST /api/tools/call', { tool: 'notes__add', args: { title: 'x', text: 'password: hunter2-hunter2-hunter2' } })
  const { calls } = await page.get('GET /api/calls/recent')
  expect(calls).toMatchObject([
    { kind: 'tool', server: 'notes', name: 'add', by: 'person', outcome: 'done' },
    { kind: 'tool', server: 'notes', name: 'search', args: { query: 'door' }, durationMs: expect.any(Number) },
  ])
  // The tool answers with an error.
  await page.run('POST /api/tools/call', { tool: 'notes__edit', args: { id: 'none', text: 'x' } })
  expect((await page.get('GET /api/calls/recent?limit=1')).calls).toMatchObject([{ name: 'edit', outcome: 'failed' }])
  expect((await page.get('GET /api/calls/recent?limit=1')).calls).toHaveLength(1)
  expect((await page.get('GET /api/calls/recent?server=deploy')).calls).toEqual([])
})

test('arguments are checked against the schema of the tool', async () => {
  const { console } = await opened()
  const page = await Page.open(console)
  expect(await page.get('POST /api/tools/check', { tool: 'notes__search', args: { query: 'x' } })).toEqual({})
  expect((await page.get('POST /api/tools/check', { tool: { server: 'notes', name: 'search' }, args: { query: 7 } })).fault).toContain(
    'query',
  )
  expect((await page.fails('POST /api/tools/check', { body: { tool: 'nothing', args: {} } })).status).toBe(404)
})

test('a search finds prompts and templates as well as tools', async () => {
  const { console } = await opened()
  const page = await Page.open(console)
  const { found } = await page.get('GET /api/search?q=note&limit=50')
  const kinds = new Set(found.map(({ kind }: { kind: string }) => kind))
  expect([...kinds]).toEqual(expect.arrayContaining(['tool', 'prompt', 'template']))
})

describe('the tour', () => {
  test('adds the sample server that turns hostile, turns it and removes it', async () => {
    const rogue = rogueServer({ after: {} })
    let isClosed = false
    const startRogue = async () => ({
      spec: { id: 'rogue', transport: { type: 'memory' as const, service: rogue }, tier: 'untrusted' as const, provenance: [] },
      get hasTurned() {
        return rogue.hasTurned
      },
      get received() {
        return rogue.received.length
      },
      turn: () => rogue.turn(),
      close: async () => {
        isClosed = true
        await rogue.close()
      },
    })
    // A rule for all servers would also approve what the hostile one changes, and leave no review.
    const policy = { session: [allow('approve-samples', { action: 'server.approve', server: ['notes', 'deploy'] })] }
    const { console, host, asker } = await opened({ host: { policy }, console: { tour: { startRogue } } })
    // The person says yes to what it offers at first, and has not answered yet when it turns.
    asker.listen({
      onAsked: ({ id, subject }) => {
        if (subject.kind === 'approve' && subject.isFirst) setImmediate(() => asker.answer(id, { kind: 'allow', scope: 'once' }))
      },
      onEnded: () => {},
    })
    const page = await Page.open(console)
    const events = await page.events()
    expect(await page.get('GET /api/tour')).toEqual({ hasRogue: true })
    expect((await page.fails('POST /api/tour/rogue/turn')).status).toBe(409)
    expect(await page.get('POST /api/tour/rogue')).toEqual({ hasRogue: true, rogue: { server: 'rogue', hasTurned: false, received: 0 } })
    await page.get('POST /api/tour/rogue')
    await page.run('POST /api/servers/rogue/enable')
    await host.settled()
    const { tools } = await page.get('GET /api/tools?server=rogue')
    expect(tools.length).toBeGreaterThan(3)
    expect((await page.get('POST /api/grants', { tool: tools[0].exposed })).grant).toMatchObject({ bind: { server: 'rogue' } })
    expect(await page.get('POST /api/tour/rogue/turn')).toMatchObject({ rogue: { hasTurned: true } })
    // The event that tells of the first approval has no items.
    const { items } = await event(events, 'review', (review) => review.server === 'rogue' && !review.isFirst && review.items > 0)
    expect((await page.get('GET /api/servers/rogue')).server.review.items).toHaveLength(items)
    expect(await page.get('DELETE /api/tour/rogue')).toEqual({ hasRogue: true })
    expect(isClosed).toBe(true)
    expect(host.specs().map(({ id }) => id)).not.toContain('rogue')
    // Nothing that was allowed for the tour remains.
    expect((await page.get('GET /api/grants')).grants).toEqual([])
    expect(host.pins.list().map(({ server }) => server)).not.toContain('rogue')
  })

  test('says if it has no such server', async () => {
    const { console } = await opened({ host: { servers: {} } })
    const page = await Page.open(console)
    expect(await page.get('GET /api/tour')).toEqual({ hasRogue: false })
    expect((await page.fails('POST /api/tour/rogue')).status).toBe(409)
  })
})

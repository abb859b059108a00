/** Recordings of a console: started, stopped, opened, played against a server and compared. */

import { appendFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { HostOptions } from '../../src/host/index.ts'
import { deny } from '../../src/host/policy-tools/index.ts'
import { headingLine, messageLine } from '../../src/testing/index.ts'
import { until } from '../support/until.ts'
import { APPROVED, consoles, event, Page } from './pages.ts'

const opened = consoles()

const SEARCH = { tool: 'notes__search', args: { query: 'door' } }
const add = (title: string) => ({ tool: 'notes__add', args: { title, text: 'The door code is 4711' } })

async function recorded(limits = {}, host: HostOptions = {}) {
  const all = await opened({ host: { isBypassing: true, ...host }, console: { limits } })
  await all.host.settled()
  const page = await Page.open(all.console)
  const { recordings } = await page.get('POST /api/recordings', { servers: ['notes'], title: 'First' })
  return { ...all, page, recording: recordings[0] }
}

describe('a recording', () => {
  test('has the messages of its server from start to stop, and is listed', async () => {
    const { page, recording } = await recorded()
    expect(recording).toMatchObject({ title: 'First', target: 'notes', state: 'recording', messages: 0 })
    expect(await page.fails('POST /api/recordings', { body: { servers: ['notes'] } })).toMatchObject({ status: 409 })
    expect((await page.get('GET /api/recordings?state=recording')).recordings).toMatchObject([{ id: recording.id }])
    const events = await page.events()
    await page.run('POST /api/tools/call', SEARCH)
    const { recording: stopped } = await page.get(`POST /api/recordings/${recording.id}/stop`)
    expect(stopped).toMatchObject({ state: 'stored', messages: 2 })
    expect(await event(events, 'recordings')).toMatchObject({ ids: [recording.id] })
    await page.run('POST /api/tools/call', SEARCH)
    expect((await page.get('GET /api/recordings')).recordings).toMatchObject([{ id: recording.id, title: 'First', messages: 2 }])
    expect((await page.get('GET /api/recordings?state=recording')).recordings).toEqual([])
    const read = await page.get(`GET /api/recordings/${recording.id}?limit=1`)
    expect(read).toMatchObject({ messages: [{ index: 0, from: 'client', message: { method: 'tools/call' } }], next: 1 })
    expect((await page.get(`GET /api/recordings/${recording.id}?after=1`)).messages).toMatchObject([{ index: 1, from: 'server' }])
    expect((await page.fails(`POST /api/recordings/${recording.id}/stop`)).status).toBe(409)
    await page.get(`DELETE /api/recordings/${recording.id}`)
    expect((await page.get('GET /api/recordings')).recordings).toEqual([])
    for (const id of [recording.id, '../../etc/passwd', 'nothing'])
      expect((await page.fails(`GET /api/recordings/${encodeURIComponent(id)}`)).status).toBe(404)
  })

  test('is opened from its text, also in another console', async () => {
    const { page, recording } = await recorded()
    await page.run('POST /api/tools/call', SEARCH)
    await page.get(`POST /api/recordings/${recording.id}/stop`)
    const { text } = await page.get(`GET /api/recordings/${recording.id}/text`)
    const { recording: copy } = await page.get('POST /api/recordings/open', { text, title: 'Copy' })
    expect(copy).toMatchObject({ title: 'Copy', target: 'notes', messages: 2 })
    expect(await page.fails('POST /api/recordings/open', { body: { text: 'hello' } })).toMatchObject({ status: 400 })
    expect(await page.get('POST /api/recordings/compare', { before: recording.id, after: copy.id })).toEqual({
      same: 1,
      added: [],
      removed: [],
      changed: [],
      slower: [],
    })
  })

  test('is played against a server, and the changed answers are shown', async () => {
    const { page, recording } = await recorded()
    await page.run('POST /api/tools/call', SEARCH)
    await page.get(`POST /api/recordings/${recording.id}/stop`)
    await page.run('POST /api/tools/call', add('Door'))
    const without = await page.run(`POST /api/recordings/${recording.id}/replay`, { server: 'notes' })
    expect(without).toMatchObject({ state: 'done', result: { asked: 0, leftOut: 1, changed: [] } })
    const operation = await page.run(`POST /api/recordings/${recording.id}/replay`, { server: 'notes', calls: true })
    expect(operation.error).toBeUndefined()
    expect(operation.result).toMatchObject({ asked: 1, changed: [{ method: 'tools/call', name: 'search' }] })
    expect(operation.result.changed[0].differences.length).toBeGreaterThan(0)
  })

  test('is played through the gate: denied requests are not sent, and the log has them', async () => {
    const session = [...APPROVED, deny('no-search', { action: 'tool.call', tool: 'search' }), deny('no-read', { action: 'resource.read' })]
    const { page, feed } = await recorded({}, { policy: { session } })
    const requests = [
      { method: 'tools/call', params: { name: 'search', arguments: { query: 'door' } } },
      { method: 'resources/read', params: { uri: 'note://1' } },
      { method: 'logging/setLevel', params: { level: 'debug' } },
      { method: 'tools/list', params: {} },
    ]
    const lines = requests.flatMap(({ method, params }, id) => [
      messageLine({ from: 'client', message: { jsonrpc: '2.0', id, method, params }, atMs: id }),
      messageLine({ from: 'server', message: { jsonrpc: '2.0', id, result: {} }, atMs: id }),
    ])
    const foreign = [headingLine('notes', new Date()), ...lines].join('')
    const { recording: opened } = await page.get('POST /api/recordings/open', { text: foreign })
    const { result } = await page.run(`POST /api/recordings/${opened.id}/replay`, { server: 'notes', calls: true })
    expect(result).toMatchObject({ asked: 3, leftOut: 1 })
    const texts = result.changed.map(
      ({ name, differences }: { name?: string; differences: unknown }) => `${name} ${JSON.stringify(differences)}`,
    )
    expect(texts[0]).toMatch(/^search .*Rule no-search/)
    expect(texts[1]).toMatch(/^note:\/\/1 .*Rule no-read/)
    const { records } = await page.get('GET /api/audit')
    const refused = records.filter(({ kind }: { kind?: string }) => kind === 'refusal')
    expect(refused).toHaveLength(2)
    const sent = feed.timeline.page({ limit: 1000 }).messages.map(({ method }) => method)
    expect(sent).not.toContain('tools/call')
    expect(sent).not.toContain('resources/read')
  })

  test('is compared with another: added, removed and changed requests', async () => {
    const { page, recording } = await recorded()
    await page.run('POST /api/tools/call', SEARCH)
    await page.run('POST /api/tools/call', add('One'))
    await page.get(`POST /api/recordings/${recording.id}/stop`)
    const { recordings } = await page.get('POST /api/recordings', { servers: ['notes'] })
    await page.run('POST /api/tools/call', SEARCH)
    await page.run('POST /api/tools/call', add('Two'))
    await page.get(`POST /api/recordings/${recordings[0].id}/stop`)
    const compared = await page.get('POST /api/recordings/compare', { before: recording.id, after: recordings[0].id })
    const calls = (all: { method: string; params: { arguments: { title: string } } }[]): string[] =>
      all.filter(({ method }) => method === 'tools/call').map(({ params }) => params.arguments.title)
    expect(calls(compared.added)).toEqual(['Two'])
    expect(calls(compared.removed)).toEqual(['One'])
    expect(compared.changed).toMatchObject([{ name: 'search' }])
  })

  test('is refused without a proper heading, and a damaged file is listed and can be removed', async () => {
    const { page, folder } = await recorded()
    const wrong = [
      '{"portico":"transcript","format":1,"target":{"toString":1},"at":"x"}',
      '{"portico":"transcript","format":1,"target":"x"}',
    ]
    for (const text of wrong)
      expect(await page.fails('POST /api/recordings/open', { body: { text } })).toMatchObject({
        status: 400,
        message: expect.stringMatching(/expected a text as "(target|at)"/),
      })
    // No line break after the heading.
    const { recording: empty } = await page.get('POST /api/recordings/open', { text: headingLine('notes', new Date()).trim() })
    expect(empty).toMatchObject({ state: 'stored', messages: 0 })
    const file = readdirSync(folder, { recursive: true, encoding: 'utf8' }).find((name) => name.endsWith(`${empty.id}.jsonl`)) as string
    appendFileSync(join(folder, file), '{"from":"cli')
    const damaged = (await page.get('GET /api/recordings')).recordings.find(({ id }: { id: string }) => id === empty.id)
    expect(damaged).toMatchObject({ state: 'damaged', messages: 0 })
    await page.get(`DELETE /api/recordings/${empty.id}`)
    expect((await page.get('GET /api/recordings')).recordings.map(({ id }: { id: string }) => id)).not.toContain(empty.id)
  })

  test('of a silent server is not stored, and the others have short names', async () => {
    const { page, recording, folder } = await recorded()
    const { recordings } = await page.get('POST /api/recordings', { servers: ['deploy'] })
    expect(recordings[0].title).toMatch(/^deploy \d\d:\d\d:\d\d$/)
    await page.run('POST /api/tools/call', SEARCH)
    const ended = async (id: string) => (await page.get(`POST /api/recordings/${id}/stop`)).recording
    expect(await ended(recordings[0].id)).toMatchObject({ state: 'empty', messages: 0 })
    expect(await ended(recording.id)).toMatchObject({ state: 'stored' })
    expect((await page.get('GET /api/recordings')).recordings).toHaveLength(1)
    expect(readdirSync(join(folder, 'recordings'))).toEqual([`${recording.id}.jsonl`])
  })

  test('ends at its bound, and there are only so many', async () => {
    const { page, recording } = await recorded({ maxRecordingBytes: 2_000, maxRecordings: 2 })
    for (let count = 0; count < 4; count++) await page.run('POST /api/tools/call', add(`Note ${count}`))
    await until(async () => (await page.get('GET /api/recordings')).recordings[0].isFull === true)
    const { recording: full } = await page.get(`POST /api/recordings/${recording.id}/stop`)
    expect(full.bytes).toBeLessThanOrEqual(2_000)
    await page.get('POST /api/recordings', { servers: ['deploy'] })
    expect(await page.fails('POST /api/recordings', { body: { servers: ['notes'] } })).toMatchObject({
      status: 429,
      message: expect.stringContaining('(maxRecordings)'),
    })
    expect((await page.fails('POST /api/recordings/open', { body: { text: 'x'.repeat(2_001) } })).message).toContain('(maxRecordingBytes)')
  })
})

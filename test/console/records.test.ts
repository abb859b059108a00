/** The routes of a console for grants, the policy and the audit log. */

import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { STORAGE_PATHS } from '../../src/host/index.ts'
import { deny } from '../../src/host/policy-tools/index.ts'
import { until } from '../support/until.ts'
import { APPROVED, consoles, event, Page } from './pages.ts'

const opened = consoles()

const ADD = { tool: 'notes__add', args: { title: 'Milk', text: 'Two litres' } }
const EDIT = { tool: 'notes__edit', args: { id: 'none', text: 'x' } }

/** Makes a grant for this conversation by allowing a call. */
async function withGrant() {
  const all = await opened()
  const page = await Page.open(all.console)
  const { operation } = await page.get('POST /api/tools/call', EDIT)
  await until(() => all.asker.waiting().length > 0)
  const [question] = all.asker.waiting()
  const scope = question?.scopes.find((each) => each !== 'once')
  await page.get(`POST /api/questions/${question?.id}/answer`, { kind: 'allow', scope, width: 'any' })
  await page.ended(operation.id)
  return { ...all, page }
}

describe('grants', () => {
  test('a grant is listed with who gave it, and revoked by its id', async () => {
    const { page } = await withGrant()
    const { grants } = await page.get('GET /api/grants')
    expect(grants).toMatchObject([{ action: 'tool.call', bind: { server: 'notes', primitive: 'edit' }, by: 'console' }])
    expect(grants[0].text).toBe('notes may run edit with any arguments')
    expect(grants[0].until).toMatch(/^(?:for|in|until) /)
    const events = await page.events()
    expect(await page.get(`DELETE /api/grants/${grants[0].id}`)).toEqual({ revoked: 1 })
    expect(await event(events, 'grants')).toMatchObject({ revoked: 1 })
    expect(await page.get('GET /api/grants')).toEqual({ grants: [] })
    expect(await page.fails(`DELETE /api/grants/${grants[0].id}`)).toMatchObject({ status: 404, code: 'ERR_NOT_FOUND' })
  })

  test('all grants of a server are revoked together', async () => {
    const { page } = await withGrant()
    expect(await page.get('DELETE /api/grants?server=deploy')).toEqual({ revoked: 0 })
    expect(await page.get('DELETE /api/grants?server=notes')).toEqual({ revoked: 1 })
    expect((await page.fails('DELETE /api/grants')).status).toBe(400)
  })
})

describe('allowing for good', () => {
  const effect = async (page: Page, args: object): Promise<string> =>
    (await page.get('POST /api/policy/explain', { tool: 'notes__search', args })).decision.effect

  test('exact arguments are allowed, and others are still asked about', async () => {
    const page = await Page.open((await opened()).console)
    const { grant } = await page.get('POST /api/grants', { tool: 'notes__search', args: { query: 'milk' } })
    expect(grant).toMatchObject({ scope: 'always', by: 'console', bind: { server: 'notes', primitive: 'search', args: { kind: 'exact' } } })
    expect(await effect(page, { query: 'milk' })).toBe('allow')
    expect(await effect(page, { query: 'door code' })).toBe('ask')
    expect((await page.get('GET /api/grants')).grants).toHaveLength(1)
  })

  test('any arguments are allowed until the grant is revoked', async () => {
    const page = await Page.open((await opened()).console)
    const { grant } = await page.get('POST /api/grants', { tool: { server: 'notes', name: 'search' }, width: 'any' })
    expect(await effect(page, { query: 'door code' })).toBe('allow')
    await page.get(`DELETE /api/grants/${grant.id}`)
    expect(await effect(page, { query: 'door code' })).toBe('ask')
  })

  test('what a rule denies cannot be allowed, and an unknown tool is named', async () => {
    const policy = { session: APPROVED, user: [deny('no-search', { server: 'notes', tool: 'search' }, { reason: 'Not now' })] }
    const { host, console } = await opened({ host: { policy } })
    await host.settled()
    const page = await Page.open(console)
    expect(await page.fails('POST /api/grants', { body: { tool: 'notes__search' } })).toMatchObject({ status: 403, code: 'ERR_DENIED' })
    expect((await page.fails('POST /api/grants', { body: { tool: 'notes__nothing' } })).message).toContain('notes__nothing')
    expect((await page.get('GET /api/grants')).grants).toEqual([])
  })
})

describe('the policy', () => {
  const policy = { session: APPROVED, user: [deny('no-edit', { server: 'notes', tool: 'edit' }, { reason: 'Notes stay as they are' })] }
  const withPolicy = async () => {
    const all = await opened({ host: { policy } })
    await all.host.settled()
    return { ...all, page: await Page.open(all.console) }
  }
  const draft = (rules: string) => ({ draft: `rules:\n${rules}` })

  test('the rules of every layer are shown', async () => {
    const { page } = await withPolicy()
    expect(await page.get('GET /api/policy')).toMatchObject({
      layers: { user: [{ id: 'no-edit', effect: 'deny' }], session: [{ id: 'approve-all' }] },
      roots: { project: expect.any(String) },
      isBypassing: false,
    })
  })

  test('the check finds rules that cannot match, in use and in a draft', async () => {
    const { page } = await withPolicy()
    expect(await page.get('POST /api/policy/lint')).toEqual({ findings: [] })
    const { findings } = await page.get('POST /api/policy/lint', draft('  - { id: typo, effect: deny, match: { server: nots } }'))
    expect(findings).toMatchObject([{ rule: 'typo', layer: 'user', code: 'unknown-server' }])
  })

  test('an invalid draft is refused with the place of the mistake, and without paths of this computer', async () => {
    const { page } = await withPolicy()
    for (const text of [draft('  - { id: x, effect: maybe, match: {} }'), { draft: 'rules: [' }]) {
      const error = await page.fails('POST /api/policy/lint', { body: text })
      expect(error).toMatchObject({ status: 400, code: 'ERR_CONFIG', message: expect.stringMatching(/^draft/) })
      expect(error.message).not.toContain('/tmp')
    }
    expect((await page.fails('POST /api/policy/lint', { body: { draft: 7 } })).status).toBe(400)
  })

  test('a decision is explained without anything being done', async () => {
    const { page, asker } = await withPolicy()
    const explained = await page.get('POST /api/policy/explain', { ...EDIT, as: 'person' })
    expect(explained).toMatchObject({
      decision: { effect: 'deny' },
      rules: expect.arrayContaining([expect.objectContaining({ id: 'no-edit', outcome: 'holds' })]),
      text: expect.stringContaining('Notes stay as they are'),
    })
    expect(asker.waiting()).toEqual([])
    expect((await page.fails('POST /api/policy/explain', { body: { tool: 'nothing' } })).status).toBe(404)
  })

  test('a replay shows which past decisions a draft would change', async () => {
    const { page } = await withPolicy()
    await page.run('POST /api/tools/call', ADD)
    await page.run('POST /api/tools/call', EDIT)
    const { counts } = await page.get('POST /api/policy/replay')
    expect(counts).toMatchObject({ changed: 0, unreadable: 0 })
    expect(counts.same).toBeGreaterThan(2)
    const changed = await page.get(
      'POST /api/policy/replay',
      draft('  - { id: no-add, effect: deny, match: { action: tool.call, tool: add } }'),
    )
    expect(changed.counts.changed).toBe(2)
    expect(changed.decisions).toMatchObject([
      { kind: 'changed', before: 'deny' },
      { kind: 'changed', before: 'allow', after: 'deny' },
    ])
  })

  test('a replay counts a question that a draft would save', async () => {
    const { page } = await withGrant()
    expect((await page.get('POST /api/policy/replay')).counts).toMatchObject({ changed: 0 })
    const { counts, decisions } = await page.get(
      'POST /api/policy/replay',
      draft('  - { id: edit, effect: allow, match: { action: tool.call, server: notes, tool: edit } }'),
    )
    expect(counts.changed).toBe(1)
    expect(decisions).toMatchObject([{ kind: 'changed', before: 'ask', after: 'allow' }])
  })
})

describe('the audit log', () => {
  const withCalls = async (calls: number) => {
    const all = await opened()
    const page = await Page.open(all.console)
    for (let i = 0; i < calls; i++) await page.run('POST /api/tools/call', { ...ADD, args: { ...ADD.args, title: `Note ${i}` } })
    return { ...all, page }
  }

  test('is shown page by page, newest first, and filtered', async () => {
    const { page } = await withCalls(3)
    const all = await page.get('GET /api/audit')
    expect(all.next).toBeUndefined()
    const seqs: number[] = all.records.map(({ seq }: { seq: number }) => seq)
    expect(seqs).toEqual([...seqs].sort((a, b) => b - a))
    const paged: number[] = []
    let before = ''
    for (;;) {
      const { records, next } = await page.get(`GET /api/audit?limit=4${before}`)
      expect(records.length).toBeLessThanOrEqual(4)
      paged.push(...records.map(({ seq }: { seq: number }) => seq))
      if (next === undefined) break
      before = `&before=${next}`
    }
    expect(paged).toEqual(seqs)
    const { records } = await page.get('GET /api/audit?server=notes&action=tool.call&kind=intent&effect=allow')
    expect(records).toHaveLength(3)
    expect(records[0]).toMatchObject({ kind: 'intent', entry: { initiator: 'user', args: { preview: { title: 'Note 2' } } } })
    expect((await page.get('GET /api/audit?server=nothing')).records).toEqual([])
  })

  test('is verified, and a changed byte is found', async () => {
    const { page, host } = await withCalls(1)
    expect(await page.get('POST /api/audit/verify')).toMatchObject({ ok: true })
    const folder = join(host.folder, STORAGE_PATHS.audit)
    const segment = readdirSync(folder).find((name) => name.endsWith('.jsonl')) as string
    const genuine = readFileSync(join(folder, segment))
    writeFileSync(join(folder, segment), genuine.toString().replace('Two litres', 'Ten litres'))
    expect(await page.get('POST /api/audit/verify')).toMatchObject({ ok: false, firstBad: { segment, reason: expect.any(String) } })
    writeFileSync(join(folder, segment), genuine)
  })
})

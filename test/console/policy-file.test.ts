/** The policy file of the user and the audit log, through a console: written, explained, exported, broken on a copy. */

import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { type AuditRecord, STORAGE_PATHS } from '../../src/host/index.ts'
import { temporaryFolders } from '../support/folders.ts'
import { until } from '../support/until.ts'
import { APPROVED, consoles, event, Page } from './pages.ts'

const opened = consoles()
const folders = temporaryFolders()

const RULES = `# My rules
rules:
  - id: no-edit
    effect: deny
    match: { server: notes, tool: edit }
    reason: Notes stay as they are
  - id: home-only
    effect: ask
    match: { action: tool.call, labels: ['private:notes'], claimed: { openWorldHint: true } }
    args: { /path: { within: /home } }
`
const SEARCH = { tool: 'notes__search', args: { query: 'door' } }

async function withFile(text = RULES) {
  const user = join(folders(), 'policy.yaml')
  if (text !== '') writeFileSync(user, text)
  const all = await opened({ host: { policy: { session: APPROVED, user } } })
  await all.host.settled()
  return { ...all, user, page: await Page.open(all.console) }
}

describe('the policy file', () => {
  test('is shown with its text, its rules as sentences, and the preset in use', async () => {
    const { page, user } = await withFile()
    const policy = await page.get('GET /api/policy')
    expect(policy).toMatchObject({ preset: 'balanced', file: { path: user, text: RULES, hash: expect.any(String) } })
    expect(policy.presets.map(({ id }: { id: string }) => id)).toEqual(['cautious', 'balanced', 'trusting'])
    expect(policy.rules.filter(({ layer }: { layer: string }) => layer === 'user')).toEqual([
      { id: 'no-edit', layer: 'user', effect: 'deny', text: 'Never do anything with edit of notes', reason: 'Notes stay as they are' },
      {
        id: 'home-only',
        layer: 'user',
        effect: 'ask',
        text: 'Ask first, then call any tool if the conversation or the server has the label private:notes and the server says that it leaves this computer and path is in the folder "/home"',
      },
    ])
  })

  test('is written, used at once, and not over a change of another program', async () => {
    const { page, user, host } = await withFile()
    const events = await page.events()
    const { file } = await page.get('GET /api/policy')
    const text = RULES.replace('effect: deny', 'effect: allow')
    const after = await page.get('PUT /api/policy', { text, hash: file.hash })
    expect(readFileSync(user, 'utf8')).toBe(text)
    expect(after.rules).toContainEqual(expect.objectContaining({ id: 'no-edit', effect: 'allow' }))
    expect(host.policy.current().policy.layers.user?.[0]?.effect).toBe('allow')
    expect(await event(events, 'policy')).toMatchObject({ preset: 'balanced' })
    expect(await page.fails('PUT /api/policy', { body: { text: RULES, hash: file.hash } })).toMatchObject({ status: 409 })
    const wrong = await page.fails('PUT /api/policy', { body: { text: 'rules: [{ id: x }]' } })
    expect(wrong).toMatchObject({ status: 400, code: 'ERR_CONFIG', message: expect.stringContaining('rule "x"') })
    expect(readFileSync(user, 'utf8')).toBe(text)
  })

  test('a preset is written into it, also if the file does not exist yet', async () => {
    const { page, user } = await withFile('')
    expect((await page.get('GET /api/policy')).file).toMatchObject({ text: '' })
    expect(await page.get('POST /api/policy/preset', { preset: 'cautious' })).toMatchObject({ preset: 'cautious' })
    expect(readFileSync(user, 'utf8')).toContain('preset: cautious')
    expect((await page.get('GET /api/settings')).preset).toBe('cautious')
    expect((await page.fails('POST /api/policy/preset', { body: { preset: 'wild' } })).status).toBe(400)
  })

  test('a mistake that was made elsewhere is shown, and the former policy still applies', async () => {
    const { page, user } = await withFile()
    writeFileSync(user, 'rules: oops')
    const { file, rules } = await page.get('GET /api/policy')
    expect(file).toMatchObject({ text: 'rules: oops', problem: expect.stringContaining('rules') })
    expect(rules).toContainEqual(expect.objectContaining({ id: 'no-edit' }))
  })

  test('without a file of the user nothing can be written', async () => {
    const { console } = await opened({ host: { servers: {} } })
    const page = await Page.open(console)
    expect(await page.get('GET /api/policy')).not.toHaveProperty('file')
    expect((await page.fails('PUT /api/policy', { body: { text: 'rules: []' } })).message).toBe('This host has no policy file of the user')
  })

  test('the hits of its rules are counted over the log', async () => {
    const { page } = await withFile()
    await page.run('POST /api/tools/call', { tool: 'notes__edit', args: { id: 'none', text: 'x' } })
    await page.run('POST /api/tools/call', { tool: 'notes__edit', args: { id: 'none', text: 'y' } })
    expect((await page.get('GET /api/policy/hits')).hits).toMatchObject({ 'no-edit': 2 })
  })
})

describe('a grant', () => {
  test('is put into words', async () => {
    const { page, asker } = await withFile('')
    const { operation } = await page.get('POST /api/tools/call', { tool: 'notes__edit', args: { id: 'none', text: 'x' } })
    await until(() => asker.waiting().length > 0)
    const [question] = asker.waiting()
    asker.answer(question?.id ?? '', { kind: 'allow', scope: 'session', width: 'any' })
    await page.ended(operation.id)
    const { grants } = await page.get('GET /api/grants')
    expect(grants).toMatchObject([{ text: expect.stringMatching(/^notes may run edit with any arguments$/), isExpired: false }])
  })
})

describe('a record of the audit log', () => {
  test('says why it was allowed or refused, and what the policy would say now', async () => {
    const { page } = await withFile()
    await page.run('POST /api/tools/call', SEARCH)
    await page.run('POST /api/tools/call', { tool: 'notes__edit', args: { id: 'none', text: 'x' } })
    const { records } = await page.get('GET /api/audit?action=tool.call')
    const refusal = records.find(({ kind }: AuditRecord) => kind === 'refusal')
    const intent = records.find(({ kind }: AuditRecord) => kind === 'intent')
    const outcome = records.find(({ kind }: AuditRecord) => kind === 'outcome')
    expect(await page.get(`GET /api/audit/${refusal.seq}`)).toMatchObject({
      record: { seq: refusal.seq },
      why: expect.arrayContaining(['Notes stay as they are']),
      now: 'deny',
    })
    const details = await page.get(`GET /api/audit/${intent.seq}`)
    expect(details).toMatchObject({ related: { kind: 'outcome', intent: intent.seq }, now: 'allow' })
    expect(details.why.length).toBeGreaterThan(0)
    expect(await page.get(`GET /api/audit/${outcome.seq}`)).toMatchObject({ related: { seq: intent.seq } })
    expect((await page.fails('GET /api/audit/99999')).status).toBe(404)
    expect((await page.fails('GET /api/audit/x')).status).toBe(400)
  })

  test('is found by its words, and all are exported', async () => {
    const { page } = await withFile()
    await page.run('POST /api/tools/call', { tool: 'notes__search', args: { query: 'xylophone' } })
    await page.run('POST /api/tools/call', SEARCH)
    const { records } = await page.get('GET /api/audit?q=XYLOPHONE')
    expect(records).toHaveLength(1)
    const { text, records: count, next } = await page.get('GET /api/audit/export')
    const lines = text.trim().split('\n')
    expect(lines).toHaveLength(count)
    expect(next).toBeUndefined()
    expect(JSON.parse(lines[0])).toMatchObject({ seq: 1 })
    const rest = await page.get('GET /api/audit/export?after=2')
    expect(rest.records).toBe(count - 2)
  })

  test('is changed in a copy only, and the change is found', async () => {
    const { page, folder } = await withFile()
    await page.run('POST /api/tools/call', SEARCH)
    const audit = join(folder, STORAGE_PATHS.audit)
    const broken = await page.get('POST /api/audit/break-copy')
    expect(broken.before).toMatchObject({ ok: true })
    expect(broken.after).toMatchObject({ ok: false, firstBad: { seq: broken.changed.seq } })
    expect(await page.get('POST /api/audit/verify')).toMatchObject({ ok: true })
    expect(existsSync(audit)).toBe(true)
  })
})

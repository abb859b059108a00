/** Servers that another process adds, changes and removes while a console runs. */

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { followServerFile, type ServerSpec, serverFile } from '../../src/host/index.ts'
import { consoles, event, Page } from './pages.ts'

const opened = consoles()

const spec = (id: string, more: Partial<ServerSpec> = {}): ServerSpec => ({
  id,
  transport: { type: 'stdio', command: 'node', args: [`${id}.mjs`], env: {} },
  tier: 'untrusted',
  provenance: [],
  isDisabled: true,
  ...more,
})

async function followed() {
  const all = await opened()
  const warnings: string[] = []
  const follower = await followServerFile(all.host, { onWarning: (text) => warnings.push(text) })
  onTestFinished(() => follower.close())
  const names = (): string[] => all.host.specs().map(({ id }) => id)
  return { ...all, follower, warnings, names, file: serverFile(all.folder) }
}

test('a page sees servers that another process adds and removes, without a request', async () => {
  const { console, names, file } = await followed()
  const page = await Page.open(console)
  const events = await page.events()
  await file.add(spec('docs'))
  expect((await event(events, 'servers')).ids).toEqual(['deploy', 'docs', 'notes'])
  await file.update('docs', (before) => ({ ...before, title: 'My documents' }))
  await event(events, 'servers')
  expect((await page.get('GET /api/servers/docs')).server).toMatchObject({ title: 'My documents', isEnabled: false })
  await file.remove('docs')
  expect((await event(events, 'servers')).ids).toEqual(['deploy', 'notes'])
  expect(names()).toEqual(['deploy', 'notes'])
})

test('a server that the page added is not started again because its file changed', async () => {
  const { console, host, follower } = await followed()
  const page = await Page.open(console)
  const whole = {
    id: 'whole',
    command: 'node',
    args: ['a.mjs'],
    env: { A: '1' },
    cwd: '/',
    title: 'Whole',
    labels: ['private:x'],
    tier: 'trusted',
  }
  await page.get('POST /api/servers', { id: 'plain', url: 'https://far.example/mcp' })
  await page.get('POST /api/servers', whole)
  await page.get('POST /api/servers/whole/disable')
  await page.get('PATCH /api/servers/plain', { timeoutMs: 5_000, revisions: ['2025-06-18'], httpTransport: 'sse', roots: ['/'] })
  const before = host.specs()
  await follower.refresh()
  // The same objects: the host replaced none.
  for (const [at, each] of host.specs().entries()) expect(each).toBe(before[at])
})

test('an unreadable file is a warning, and the servers stay', async () => {
  const { follower, warnings, names, file, folder } = await followed()
  await file.add(spec('docs'))
  await follower.refresh()
  writeFileSync(join(folder, 'servers.json'), '{')
  await follower.refresh()
  await follower.refresh()
  expect(names()).toContain('docs')
  expect(warnings).toEqual([expect.stringContaining('servers.json cannot be used')])
})

test('servers that the list never had stay, and come back when their name is free again', async () => {
  const { host, follower: other, names, file } = await followed()
  other.close()
  const samples = host.specs()
  const follower = await followServerFile(host, { others: () => samples })
  onTestFinished(() => follower.close())
  await file.add(spec('notes'))
  await follower.refresh()
  expect(host.specs().find(({ id }) => id === 'notes')?.transport.type).toBe('stdio')
  await file.remove('notes')
  await follower.refresh()
  expect(host.specs().find(({ id }) => id === 'notes')?.transport.type).toBe('memory')
  expect(names()).toEqual(['deploy', 'notes'])
})

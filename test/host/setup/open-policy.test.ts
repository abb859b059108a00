/** Policy files that change while a host runs apply to the next decision. */

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { writePreset } from '../../../src/host/policy/write-preset.ts'
import { createServer } from '../../../src/server/index.ts'
import { hosts, person } from '../hosts.ts'

const { host: hostWith, folder } = hosts()

function notes() {
  const server = createServer({ name: 'notes', version: '1' })
  server.tool('add', { input: { type: 'object' }, annotations: { destructiveHint: false, openWorldHint: false } }, () => 'added')
  return { tier: 'trusted' as const, provenance: [], transport: { type: 'memory' as const, service: server } }
}

test('a preset that another process chooses holds for the next decision', async () => {
  const user = join(folder(), 'policy.yaml')
  const host = await hostWith({ servers: { notes: notes() }, policy: { user }, ask: person() })
  const effect = async (): Promise<string> => (await host.explain('notes__add', {})).decision.effect
  expect(await effect()).toBe('ask')
  await writePreset(user, 'trusting')
  expect(await effect()).toBe('allow')
  await writePreset(user, 'cautious')
  expect(await effect()).toBe('ask')
})

test('a program that gives no policy is warned about the rules in its folder, which do not apply to it', async () => {
  const home = folder()
  const file = join(home, 'policy.yaml')
  await writeFile(file, 'rules: [{ id: never, effect: deny, match: { tool: add } }]')
  const warnings = async (policy?: string): Promise<string[]> => {
    const host = await hostWith({ folder: home, servers: { notes: notes() }, ask: person(), ...(policy !== undefined && { policy }) })
    return host.events.flatMap((event) => (event.kind === 'warning' ? [event.text] : []))
  }
  expect(await warnings()).toEqual([expect.stringContaining(`The rules of ${file} do not apply to this program`)])
  expect(await warnings(file)).toEqual([])
})

test('a rule that is added while a question is open holds for its answer', async () => {
  const user = join(folder(), 'policy.yaml')
  const ask = person(async ({ subject }) => {
    if (subject.kind === 'call') await writeFile(user, 'rules: [{ id: never, effect: deny, match: { tool: add } }]')
    return undefined
  })
  const host = await hostWith({ servers: { notes: notes() }, policy: { user }, ask })
  await expect(host.call('notes__add', {})).rejects.toMatchObject({ code: 'ERR_DENIED' })
})

test('a policy file that becomes invalid keeps the former rules in force, and is warned about once', async () => {
  const user = join(folder(), 'policy.yaml')
  await writeFile(user, 'rules: [{ id: never, effect: deny, match: { tool: add } }]')
  const host = await hostWith({ servers: { notes: notes() }, policy: user, ask: person() })
  await writeFile(user, 'rules: [{ id: never')
  for (let i = 0; i < 2; i++) expect((await host.explain('notes__add', {})).decision.effect).toBe('deny')
  const warned = host.events.flatMap((event) => (event.kind === 'warning' ? [event.text] : []))
  expect(warned).toHaveLength(1)
  expect(warned[0]).toContain('the former rules stay in force')
  await writeFile(user, 'rules: []')
  expect((await host.explain('notes__add', {})).decision.effect).toBe('ask')
})

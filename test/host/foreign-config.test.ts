/** A configuration that came with a project is not ours, whatever it says about itself. */

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { readAudit, serverFile } from '../../src/host/index.ts'
import { createServer } from '../../src/server/index.ts'
import { hosts, person, script } from './hosts.ts'

const { folder, host: hostWith } = hosts()

const ROOTS = `
const server = createServer({ name: 'x', version: '1' })
server.tool('roots', {}, async (_, context) => JSON.stringify(await context.roots()))
serveStdio(server)`

const entry = (home: string, more = {}) => ({
  command: process.execPath,
  args: [script(home, ROOTS)],
  tier: 'trusted',
  roots: [home],
  provenance: [{ client: 'Portico', scope: 'ours', file: '/own' }],
  ...more,
})

async function exposed(kept: string): Promise<string[]> {
  const kinds: string[] = []
  for await (const record of readAudit(join(kept, 'audit')))
    if ('entry' in record && record.entry.action === 'roots.expose') kinds.push(`${record.kind} ${record.entry.effect}`)
  return kinds
}

test('a project file cannot set trust, grant folders or name a secret', async () => {
  const home = folder()
  const config = join(home, 'mcp.json')
  const secret = entry(home, { env: { KEY: `\${secret:mine}` } })
  writeFileSync(config, JSON.stringify({ mcpServers: { x: entry(home), secret } }))
  const host = await hostWith({ config, project: home, ask: person() })
  expect(Object.keys(host.health())).toEqual(['x'])
  expect(host.events).toContainEqual(expect.objectContaining({ kind: 'warning', text: expect.stringContaining('mcpServers.x.tier') }))
  expect(await host.call('x__roots')).toMatchObject({ content: [{ text: '[]' }] })
  expect(host.rootsOf('x')).toEqual([])
})

test('the same file may do so if the program that creates the host says it is its own', async () => {
  const [home, kept] = [folder(), folder()]
  const file = join(home, 'mcp.json')
  writeFileSync(file, JSON.stringify({ mcpServers: { x: entry(home, { provenance: undefined }) } }))
  const ask = person()
  const host = await hostWith({ config: { file, isOurs: true }, project: home, folder: kept, ask })
  expect(await host.call('x__roots')).toMatchObject({ content: [{ text: expect.stringContaining(pathToFileURL(home).href) }] })
  expect(ask.saw('roots')).toEqual([])
  await host.close()
  expect(await exposed(kept)).toEqual(['intent allow'])
})

test("the list in the host folder is always the person's own", async () => {
  const [home, kept] = [folder(), folder()]
  const list = serverFile(kept)
  const transport = { type: 'stdio' as const, command: process.execPath, args: [script(home, ROOTS)], env: {} }
  await list.add({ id: 'x', transport, tier: 'trusted', roots: [home], provenance: [] })
  const host = await hostWith({ config: list.file, folder: kept, ask: person() })
  await host.call('x__roots')
  expect(host.rootsOf('x')).toHaveLength(1)
})

test("a rule against granting folders also holds for the person's own configuration", async () => {
  const [home, kept] = [folder(), folder()]
  const server = createServer({ name: 'x', version: '1' })
  server.tool('roots', {}, async (_, context) => JSON.stringify(await context.roots()))
  const host = await hostWith({
    servers: { x: { transport: { type: 'memory', service: server }, tier: 'trusted', provenance: [], roots: [home] } },
    policy: { user: [{ id: 'no', effect: 'deny', match: { action: 'roots.expose' } }] },
    folder: kept,
    ask: person(),
  })
  expect(await host.call('x__roots')).toMatchObject({ content: [{ text: '[]' }] })
  await host.close()
  expect(await exposed(kept)).toEqual(['refusal deny'])
})

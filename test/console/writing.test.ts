/** The switch "I am writing this server": restarts and changed offerings without a question, by a rule that the person sees. */

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { script } from '../host/hosts.ts'
import { temporaryFolders } from '../support/folders.ts'
import { until } from '../support/until.ts'
import { consoles, Page } from './pages.ts'

const opened = consoles()
const folders = temporaryFolders()

const linesWith = (tools: readonly string[]): string => `
const server = createServer({ name: 'mine', version: '1.0.0' })
${tools.map((tool) => `server.tool('${tool}', { description: 'Does ${tool}' }, () => '${tool}')`).join('\n')}
await serveStdio(server)
`

async function withServer() {
  const [folder, user] = [folders(), join(folders(), 'policy.yaml')]
  writeFileSync(user, '# my rules\nrules: []\n')
  const all = await opened({ host: { servers: {}, policy: { user } } })
  const page = await Page.open(all.console)
  const file = script(folder, linesWith(['one']))
  await page.get('POST /api/servers', { id: 'mine', command: process.execPath, args: [file] })
  const { operation } = await page.get('POST /api/servers/mine/enable', {})
  await until(() => all.asker.waiting().length === 1)
  all.asker.answer(all.asker.waiting()[0]?.id ?? '', { kind: 'allow', scope: 'always' })
  expect(await page.ended(operation.id)).toMatchObject({ state: 'done' })
  const edit = (tools: readonly string[]): string => script(folder, linesWith(tools))
  const tools = async (): Promise<string[]> =>
    (await page.get('GET /api/tools')).tools.map(({ definition }: { definition: { name: string } }) => definition.name).sort()
  return { ...all, page, edit, tools, user, folder }
}

/** Changes that came together can cause one more start: waits until the value has stayed the same for a second. */
async function settled<T>(value: () => T | undefined): Promise<T> {
  for (;;) {
    const before = value()
    await new Promise((resolve) => setTimeout(resolve, 1000))
    if (before !== undefined && before === value()) return before
  }
}

describe('a server that the person writes', () => {
  test('starts again and is enabled after each edit without a question, while the switch is on', async () => {
    const { page, host, asker, edit, tools, user } = await withServer()
    expect((await page.get('GET /api/servers/mine')).server.isBeingWritten).toBe(false)
    expect((await page.get('PUT /api/servers/mine/writing', { isOn: true })).server.isBeingWritten).toBe(true)
    edit(['one', 'two'])
    // The edit starts it, too, and two starts can meet.
    await until(async () => (await page.run('POST /api/servers/mine/restart')).result?.state === 'ready')
    await until(async () => (await tools()).length === 2)
    expect(asker.waiting()).toEqual([])
    expect((await page.get('GET /api/policy')).rules).toMatchObject([{ id: 'writing-mine', layer: 'user', effect: 'allow' }])
    expect(readFileSync(user, 'utf8')).toContain('# my rules')

    // Calls of a model are still asked about.
    expect((await page.get('POST /api/policy/explain', { tool: 'mine__two', as: 'model' })).decision.effect).toBe('ask')

    // A start that the edit itself caused may still be in progress, and another one would join it.
    await settled(() => host.connection('mine')?.pid)
    await page.get('PUT /api/servers/mine/writing', { isOn: false })
    expect((await page.get('GET /api/policy')).rules).toEqual([])
    edit(['one', 'two', 'three'])
    await page.get('POST /api/servers/mine/restart')
    await until(() => asker.waiting().some(({ action }) => action === 'server.launch'))
  })

  test('starts again when its code is saved, also after a mistake in it, and not when its data change', async () => {
    const { page, host, edit, tools, folder } = await withServer()
    const pid = (): number | undefined => host.connection('mine')?.pid
    await page.get('PUT /api/servers/mine/writing', { isOn: true })
    edit(['one', 'two'])
    await until(async () => (await tools()).join() === 'one,two')
    edit(['one', 'two', "three', {}, () => '') this is a mistake ("])
    await until(() => host.health().mine?.state !== 'ready')
    edit(['three'])
    await until(async () => host.health().mine?.state === 'ready' && (await tools()).join() === 'three')
    const before = await settled(pid)
    writeFileSync(join(folder, 'data.json'), '{}')
    await new Promise((resolve) => setTimeout(resolve, 500))
    expect(pid()).toBe(before)
    mkdirSync(join(folder, 'lib'))
    await new Promise((resolve) => setTimeout(resolve, 200))
    writeFileSync(join(folder, 'lib', 'helper.mjs'), 'export const helper = 1\n')
    await until(() => pid() !== undefined && pid() !== before)
    await page.get('PUT /api/servers/mine/writing', { isOn: false })
    const last = await settled(pid)
    edit(['four'])
    await new Promise((resolve) => setTimeout(resolve, 500))
    expect(pid()).toBe(last)
  }, 60_000)

  test('leaves no rule when it is removed, so that another one of the same name is asked about', async () => {
    const { page } = await withServer()
    await page.get('PUT /api/servers/mine/writing', { isOn: true })
    await page.get('DELETE /api/servers/mine')
    expect((await page.get('GET /api/policy')).rules).toEqual([])
  })

  test('needs a policy file, and one that can be read', async () => {
    const { page, user } = await withServer()
    writeFileSync(user, 'rules: [oops')
    expect(await page.fails('PUT /api/servers/mine/writing', { body: { isOn: true } })).toMatchObject({ status: 400, code: 'ERR_CONFIG' })
    expect(readFileSync(user, 'utf8')).toBe('rules: [oops')
    const { console } = await opened()
    const other = await Page.open(console)
    expect((await other.get('GET /api/servers/notes')).server.isBeingWritten).toBeUndefined()
    expect((await other.fails('PUT /api/servers/notes/writing', { body: { isOn: true } })).status).toBe(409)
  })
})

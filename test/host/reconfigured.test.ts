/** What belonged to one server does not pass to another that has its name. */

import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { describeQuestion, type ServerSpec } from '../../src/host/index.ts'
import { deny } from '../../src/host/policy-tools/index.ts'
import { createServer } from '../../src/server/index.ts'
import { tasks } from '../../src/tasks/index.ts'
import { hosts, person, says, script, spy, started, textOf, until, YES } from './hosts.ts'

const { folder, host: hostWith } = hosts()

const named = (name: string) => {
  const server = createServer({ name, version: '1' })
  server.tool('who', {}, () => name)
  return server
}

const specOf = (name: string): ServerSpec => ({
  id: 'one',
  transport: { type: 'memory', service: named(name) },
  tier: 'untrusted',
  provenance: [{ client: 'a test', scope: 'ours', file: '' }],
})

test('a new server of the same name does not get the folders of the old one', async () => {
  const host = await hostWith({ servers: { one: specOf('first') }, ask: person() })
  const given = folder()
  await host.giveRoot('one', given)
  expect(host.rootsOf('one').map(({ uri }) => uri)).toEqual([pathToFileURL(given).href])
  await host.configure([specOf('second')])
  await host.settled()
  expect(host.rootsOf('one')).toEqual([])
})

test('an answer that arrives after a server was removed gives nothing to its successor', async () => {
  let answer = (): void => {}
  const late = new Promise<void>((resolve) => {
    answer = resolve
  })
  const ask = person(async ({ subject }) => {
    if (subject.kind === 'roots') await late
    return YES
  })
  const host = await hostWith({ servers: { one: specOf('first') }, ask })
  const giving = host.giveRoot('one', folder())
  const refused = expect(giving).rejects.toMatchObject({ code: 'ERR_DENIED' })
  await until(() => ask.saw('roots').length === 1)
  await host.configure([specOf('second')])
  answer()
  await refused
  expect(host.rootsOf('one')).toEqual([])
})

test('a question about an offering is withdrawn when the server is removed, and asked for its successor', async () => {
  let isWithdrawn = false
  const ask = person(({ subject }, signal) => {
    if (subject.kind !== 'approve' || ask.saw('approve').length > 1) return YES
    return new Promise((_, reject) => {
      signal.addEventListener('abort', () => {
        isWithdrawn = true
        reject(signal.reason)
      })
    })
  })
  const host = await hostWith({ servers: {}, ask })
  await host.configure([specOf('first')])
  await until(() => ask.saw('approve').length === 1)
  await host.configure([specOf('second')])
  await host.settled()
  expect(isWithdrawn).toBe(true)
  expect(ask.saw('approve')).toHaveLength(2)
  expect(textOf(await host.call('one__who'))).toBe('second')
})

test('a program that changed before a restart gets neither the roots nor the subscriptions of the old', async () => {
  const home = folder()
  const lines = (version: number): string => `
const server = createServer({ name: 'one', version: '${version}' })
server.resource('note://one', { name: 'one' }, () => 'text')
server.tool('end', {}, () => process.exit(1))
await serveStdio(server)`
  const file = script(home, lines(1))
  const ask = person()
  const host = await hostWith({ servers: { one: started(file) }, ask, project: home })
  await host.giveRoot('one', folder())
  await host.watch('note://one', () => {})
  expect(host.rootsOf('one')).toHaveLength(1)
  script(home, lines(2))
  await host.call('one__end').catch(() => {})
  await until(() => host.health().one?.state !== 'ready')
  await host.retry('one')
  await until(() => host.health().one?.state === 'ready')
  expect(ask.saw('launch')).toHaveLength(2)
  expect(ask.saw('launch')[1]?.changes.join()).toContain('has changed since you approved it')
  expect(host.rootsOf('one')).toEqual([])
  expect(host.events).toContainEqual(expect.objectContaining({ kind: 'warning', text: expect.stringContaining('note://one') }))
})

test('a new server of the same name in one process is reviewed again, even with the same tools', async () => {
  const home = folder()
  const first = await hostWith({ folder: home, servers: { one: named('first') }, ask: person() })
  await first.close()
  const same = person()
  const again = await hostWith({ folder: home, servers: { one: named('first') }, ask: same })
  expect(same.asked).toEqual([])
  await again.close()
  const ask = person()
  await hostWith({ folder: home, servers: { one: named('second') }, ask })
  expect(ask.saw('approve')[0]?.items.map(({ name }) => name)).toContain('who')
})

test('a policy can be replaced while the host runs, in every form that createHost accepts', async () => {
  const host = await hostWith({ servers: { one: { ...specOf('first'), tier: 'trusted' } }, ask: person() })
  expect(textOf(await host.call('one__who'))).toBe('first')
  await host.setPolicy({ layers: { user: [deny('never', { tool: 'who' })] }, roots: {} })
  await expect(host.call('one__who')).rejects.toMatchObject({ code: 'ERR_DENIED', data: { by: 'policy' } })
  await host.setPolicy({})
  expect(textOf(await host.call('one__who'))).toBe('first')
})

test('sampling tokens of a server count for the limit of a rule', async () => {
  const server = createServer({ name: 'asker', version: '1' })
  server.tool('ask', { annotations: { readOnlyHint: true } }, async (_, context) => {
    await context.sample('question', { messages: [{ role: 'user', content: { type: 'text', text: 'hello' } }], maxTokens: 10 })
    return 'answered'
  })
  const model = spy([says('one')], [says('two')])
  const host = await hostWith({
    servers: { asker: server },
    ask: person(),
    model,
    policy: {
      layers: { user: [{ id: 'spend', effect: 'ask', match: { action: 'sampling.create' }, limits: { spendTokens: 2 } }] },
      roots: {},
    },
  })
  expect(textOf(await host.call('asker__ask'))).toBe('answered')
  await host.call('asker__ask').catch(() => {})
  expect(model.asked).toHaveLength(1)
})

test('a revision that the person chooses is a choice in the question, and a changed tool is still a change', async () => {
  const server = createServer({ name: 'one', version: '1' })
  server.extend(tasks())
  const tool = server.tool('who', { description: 'Says who' }, () => 'one')
  const spec: ServerSpec = { ...specOf('one'), transport: { type: 'memory', service: server } }
  const ask = person()
  const host = await hostWith({ servers: { one: spec }, ask })
  await host.enable('one')
  const titles = () => ask.asked.flatMap((question) => (question.subject.kind === 'approve' ? [describeQuestion(question)[0]?.text] : []))
  await host.configure([{ ...spec, revisions: ['2025-06-18'] }])
  await host.enable('one')
  await host.settled()
  expect(titles().at(-1)).toBe('Approve the capabilities of one in revision 2025-06-18?')
  expect(ask.asked.at(-1)?.reasons[0]).toContain('You chose revision 2025-06-18')
  await host.configure([spec])
  await host.enable('one')
  await host.settled()
  expect(titles().at(-1)).toMatch(/^Approve the capabilities of one in revision 2026-/)
  tool.update({ description: 'Says who, and more' })
  await until(() => titles().at(-1)?.includes('changed') === true)
  expect(titles().at(-1)).toBe('Approve what changed on one (1 tool)?')
})

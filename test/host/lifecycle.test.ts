/** How servers of a host come and go, and what of that the host notices. */

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createHost, type HostOptions, readAudit, verifyAudit } from '../../src/host/index.ts'
import type { ModelPart } from '../../src/host/language-models/language-model.ts'
import { listen } from '../../src/http/index.ts'
import { createServer } from '../../src/server/index.ts'
import { isAlive, untilGone } from '../support/processes.ts'
import { proves } from '../support/proves.ts'
import { calling, chat, hosts, NO, person, script, spy, started, textOf, until, useAll } from './hosts.ts'

const { folder, host: hostWith } = hosts()

const SERVER = `const server = createServer({ name: 'x', version: '1', limits: { toolCalls: false } })
  server.tool('pid', { input: object }, () => String(process.pid))
  server.tool('die', { input: object }, () => process.kill(process.pid, 'SIGKILL') && new Promise(() => {}))
  server.tool('wait', { input: object }, (_, { signal }) => new Promise((resolve) => {
    appendFileSync(process.argv[2], 'begun\\n')
    signal.addEventListener('abort', () => { appendFileSync(process.argv[2], 'cancelled\\n'); resolve('') })
  }))
  serveStdio(server, {})`

const all = () => person(() => ({ kind: 'allow', scope: 'session', width: 'any' }))
const linesOf = (file: string) => readFileSync(file, 'utf8').split('\n').filter(Boolean)

const setUp = () => {
  const home = folder()
  const record = join(home, 'record')
  writeFileSync(record, '')
  return { record, spec: started(script(home, SERVER), {}, [record]) }
}

test('missing, hanging and refused servers delay no other server, and show their state', async () => {
  const hanging = started(script(folder(), 'setInterval(() => {}, 1000)'))
  const missing = { command: '/nowhere/at/all' }
  const good = createServer({ name: 'good', version: '1' })
  good.tool('hello', {}, () => 'hello')
  const ask = person(({ server }) => (server.id === 'refused' ? NO : undefined))
  const host = await createHost({
    folder: folder(),
    keychain: false,
    ask,
    servers: { hanging, missing, refused: setUp().spec, good, nobody: 'http://127.0.0.1:9/mcp' },
    limits: { server: { connectTimeoutMs: 60_000 } },
  })
  onTestFinished(() => host.close())
  await host.settled()
  void useAll(host)
  await until(() => host.tools().length === 1)
  expect(textOf(await host.call('good__hello'))).toBe('hello')
  await until(() => ['waiting', 'open-circuit'].includes(host.health().missing?.state ?? ''))
  await until(() => host.health().hanging?.state === 'connecting')
  expect(host.health()).toMatchObject({ hanging: { state: 'connecting' }, refused: { state: 'refused' }, good: { state: 'ready' } })
  await expect(host.call({ server: 'missing', name: 'x' })).rejects.toMatchObject({ code: expect.stringMatching(/^ERR_/) })
})

test('a server that dies during a call fails that call, and returns with its approved tools', async () => {
  const { spec } = setUp()
  const ask = all()
  const host = await hostWith({ servers: { x: spec }, ask })
  const before = textOf(await host.call('x__pid'))
  await expect(host.call('x__die')).rejects.toMatchObject({ code: expect.stringMatching(/^ERR_/) })
  expect(host.tools().map(({ exposed }) => exposed)).toContain('x__pid')
  await until(async () => (await host.call('x__pid').then(textOf, () => before)) !== before)
  // Started again under the same yes, and listed as it was approved: nobody is asked again.
  expect(ask.saw('launch')).toHaveLength(1)
  expect(ask.saw('approve')).toEqual([])
  const states = host.events.flatMap((event) => (event.kind === 'health' ? [event.health.state] : []))
  expect(states.indexOf('waiting')).toBeGreaterThan(states.indexOf('ready'))
  expect(states.at(-1)).toBe('ready')
})

test('an approval of one start does not cover a restart after a crash', async () => {
  const { spec } = setUp()
  const ask = person(({ subject }) => (subject.kind === 'launch' && ask.saw('launch').length > 1 ? NO : undefined))
  const host = await hostWith({ servers: { x: spec }, ask })
  await host.call('x__die').catch(() => {})
  await until(() => host.health().x?.state === 'not-enabled')
  expect(ask.saw('launch')).toHaveLength(1)
  await expect(host.call('x__pid')).rejects.toMatchObject({ code: 'ERR_DENIED' })
  expect(ask.saw('launch')).toHaveLength(2)
})

test('added, changed and removed definitions reach the catalog only if they are approved', async () => {
  const server = createServer({ name: 'x', version: '1' })
  server.tool('one', {}, () => 'one')
  server.prompt('hello', {}, () => 'hello')
  const listening = await listen(server, {})
  let may = true
  const ask = person(({ subject }) => (subject.kind === 'approve' && !may ? NO : undefined))
  const host = await hostWith({ servers: { x: listening.url }, ask })
  onTestFinished(() => host.close().then(() => listening.close()))
  const names = () => host.tools().map(({ definition }) => definition.name)
  expect(names()).toEqual(['one'])
  const two = server.tool('two', {}, () => 'two')
  await until(() => names().includes('two'))
  expect(textOf(await host.call('x__two'))).toBe('two')
  may = false
  server.tool('three', {}, () => 'three')
  await until(() => ask.saw('approve').length === 2)
  await host.settled()
  expect(names()).toEqual(['one', 'two'])
  expect(host.search('three')).toEqual([])
  two.remove()
  await until(() => !names().includes('two'))
  await expect(host.call({ server: 'x', name: 'two' })).rejects.toMatchObject({ code: 'ERR_SERVER_UNKNOWN' })
  const kinds = host.events.flatMap((event) => (event.kind === 'catalog' ? [...event.kinds] : []))
  expect(kinds).toContain('tool')
})

test('a server that offers less asks nothing, and what it offers again is still approved', async () => {
  const server = createServer({ name: 'x', version: '1' })
  server.tool('one', {}, () => 'one')
  const add = () => server.tool('two', {}, () => 'two')
  const two = add()
  const listening = await listen(server, {})
  const ask = person()
  const host = await hostWith({ servers: { x: listening.url }, ask })
  onTestFinished(() => host.close().then(() => listening.close()))
  const names = () => host.tools().map(({ definition }) => definition.name)
  const before = [ask.asked.length, host.events.filter(({ kind }) => kind === 'review').length]
  expect(names()).toEqual(['one', 'two'])
  two.remove()
  await until(() => !names().includes('two'))
  await host.settled()
  expect(host.review('x')).toBeUndefined()
  expect(host.notOffered('x')).toEqual(['tool two'])
  await host.approve('x')
  add()
  await until(() => names().includes('two'))
  expect(host.notOffered('x')).toEqual([])
  expect([ask.asked.length, host.events.filter(({ kind }) => kind === 'review').length]).toEqual(before)
})

test('a closed host leaves no process, even with open calls and questions', async () => {
  const home = folder()
  const specs = [setUp(), setUp(), setUp()]
  const never = new Promise<undefined>(() => {})
  const ask = person(({ subject, server }) =>
    subject.kind === 'call' && server.id === 'c' ? never : { kind: 'allow', scope: 'session', width: 'any' },
  )
  const [a, b, c] = specs.map(({ spec }) => spec)
  const host = await hostWith({ folder: home, servers: { a, b, c } as NonNullable<HostOptions['servers']>, ask })
  const pids = [Number(textOf(await host.call('a__pid'))), Number(textOf(await host.call('b__pid')))]
  const waiting = host.call('a__wait').catch((error) => error.code)
  const asking = host.call('c__pid').catch((error) => error.code)
  await until(() => linesOf(specs[0]?.record ?? '').includes('begun') && ask.asked.some(({ server }) => server.id === 'c'))
  expect(pids.every(isAlive)).toBe(true)
  await host.close()
  for (const pid of pids) await untilGone(pid, 5_000)
  expect(await waiting).toMatch(/^ERR_/)
  expect(await asking).toBe('ERR_CLOSED')
  expect(await verifyAudit(join(home, 'audit'))).toMatchObject({ ok: true, unmatchedIntents: [] })
  await expect(host.call('b__pid')).rejects.toMatchObject({ code: expect.stringMatching(/^ERR_/) })
})

describe('a chat that is cancelled', () => {
  test('cancelling a chat stops the running call, also at the server, and is logged', async () => {
    proves('T-CANC-003')
    const { spec, record } = setUp()
    const home = folder()
    const host = await hostWith({ folder: home, servers: { x: spec }, ask: all(), model: spy([calling('x__wait')]) })
    const stop = new AbortController()
    const running = chat(host, 'go', { signal: stop.signal })
    await until(() => linesOf(record).includes('begun'))
    stop.abort()
    const parts = await running
    expect(parts.at(-1)).toMatchObject({ type: 'end', reason: 'cancelled' })
    await until(() => linesOf(record).includes('cancelled'))
    await host.close()
    const outcomes: string[] = []
    for await (const each of readAudit(join(home, 'audit'))) if (each.kind === 'outcome') outcomes.push(each.outcome.kind)
    expect(outcomes.at(-1)).toBe('cancelled')
  })

  test('cancelling a chat stops the model, even if it ignores the signal', async () => {
    const deaf = {
      id: 'deaf',
      label: 'deaf',
      stream: (): AsyncIterable<ModelPart> => ({ [Symbol.asyncIterator]: () => ({ next: () => new Promise(() => {}) }) }),
    }
    const host = await hostWith({ model: deaf })
    const stop = new AbortController()
    const running = chat(host, 'go', { signal: stop.signal })
    setTimeout(() => stop.abort(), 30)
    expect((await running).at(-1)).toMatchObject({ type: 'end', reason: 'cancelled' })
  })

  test('cancelling a chat withdraws its question, and a later answer has no effect', async () => {
    let done = 0
    const server = createServer({ name: 'x', version: '1' })
    server.tool('act', {}, () => `${++done}`)
    let answer = (_: undefined): void => {}
    let taken: AbortSignal | undefined
    const ask = person(({ subject }, signal) => {
      if (subject.kind !== 'call') return undefined
      taken = signal
      return new Promise((resolve) => {
        answer = resolve
      })
    })
    const host = await hostWith({ servers: { x: server }, ask, model: spy([calling('x__act')]) })
    const stop = new AbortController()
    const running = chat(host, 'go', { signal: stop.signal })
    await until(() => taken !== undefined)
    stop.abort()
    await running
    expect(taken?.aborted).toBe(true)
    answer(undefined)
    await sleep(50)
    expect(done).toBe(0)
    expect(await host.grants.list()).toEqual([])
  })
})

test('tool calls of one model answer run in parallel, each with its own question', async () => {
  const running = new Set<string>()
  let most = 0
  const server = createServer({ name: 'x', version: '1', limits: { toolCalls: false } })
  server.tool('slow', { input: { type: 'object', properties: { who: { type: 'string' } } } }, async ({ who }) => {
    running.add(String(who))
    most = Math.max(most, running.size)
    await until(() => most === 3)
    return `${who} is done`
  })
  const ask = person(({ subject }) => (subject.kind === 'call' && subject.args.who === 'd' ? NO : undefined))
  const calls = ['a', 'b', 'c', 'd'].map((who) => calling('x__slow', { who }))
  const host = await hostWith({ servers: { x: server }, ask, model: spy(calls) })
  const parts = await chat(host, 'go')
  const results = parts.flatMap((part) => (part.type === 'tool-result' ? [textOf(part.result)] : []))
  expect(results).toEqual(['a is done', 'b is done', 'c is done'])
  expect(parts.filter(({ type }) => type === 'refused')).toHaveLength(1)
  expect(ask.saw('call')).toHaveLength(4)
})

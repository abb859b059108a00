/** What a person types goes to a server, letter by letter: that is an action like any other. */

import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readAudit, STORAGE_PATHS } from '../../src/host/index.ts'
import { ask as askRule, deny } from '../../src/host/policy-tools/index.ts'
import { createServer } from '../../src/server/index.ts'
import { hosts, person, refusing } from './hosts.ts'

const { host: hostWith } = hosts()

const typed = { ref: { type: 'ref/prompt', name: 'greet' }, argument: { name: 'who', value: 'Al' } } as const

const greeting = () => {
  const server = createServer({ name: 'greeting', version: '1' })
  const heard: string[] = []
  server.prompt(
    'greet',
    {
      input: { type: 'object', properties: { who: { type: 'string' } } },
      complete: {
        who: (value) => {
          heard.push(value)
          return ['Alice', 'Albert']
        },
      },
    },
    () => 'Hello',
  )
  return { server, heard }
}

test('completions of approved prompts and templates need no question and are logged', async () => {
  const { server, heard } = greeting()
  const ask = person()
  const host = await hostWith({ servers: { greeting: server }, ask })
  for (let times = 0; times < 5; times++)
    expect((await host.complete('greeting', typed, { as: 'person' })).values).toEqual(['Alice', 'Albert'])
  expect(heard).toContain('Al')
  expect(ask.asked.map(({ action }) => action)).toEqual(['server.approve'])
  const written: string[] = []
  for await (const record of readAudit(join(host.folder, STORAGE_PATHS.audit)))
    if (record.kind === 'intent' && record.entry.action === 'argument.complete') written.push(String(record.entry.primitive))
  expect(written).toEqual(['greet', 'greet', 'greet', 'greet', 'greet'])
})

test('typed text is not sent if a rule or the person denies it', async () => {
  const { server, heard } = greeting()
  const host = await hostWith({ servers: { greeting: server }, ask: refusing('complete') })
  await host.setPolicy({ layers: { user: [askRule('typing', { action: 'argument.complete' })] }, roots: {} })
  await expect(host.complete('greeting', typed, { as: 'person' })).rejects.toMatchObject({ code: 'ERR_DENIED', data: { by: 'person' } })
  await host.setPolicy({ layers: { user: [deny('typing', { action: 'argument.complete' })] }, roots: {} })
  await expect(host.complete('greeting', typed, { as: 'person' })).rejects.toMatchObject({ code: 'ERR_DENIED', data: { by: 'policy' } })
  expect(heard).toEqual([])
})

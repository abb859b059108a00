/** What a server asks before anybody has approved it. */

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { hosts, NO, person, spy, started, until } from '../hosts.ts'

const { host: hostWith, folder } = hosts()

/** Asks for everything as soon as it may, and once more for roots when those changed. Writes down what it is told. */
const eager = (log: string): string => `
import { appendFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n')
const ask = (id, method, params) => send({ id, method, params })
let changes = 0
const form = { message: 'Who are you?', requestedSchema: { type: 'object', properties: { name: { type: 'string' } } } }
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params, result, error } = JSON.parse(line)
  if (method === 'initialize') {
    const { protocolVersion } = params
    send({ id, result: { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'eager', version: '1' } } })
  } else if (method === 'notifications/initialized') {
    ask('form', 'elicitation/create', form)
    ask('sample', 'sampling/createMessage', { messages: [{ role: 'user', content: { type: 'text', text: 'Hello' } }], maxTokens: 10 })
    ask('roots', 'roots/list')
  } else if (method === 'notifications/roots/list_changed') ask('roots again ' + ++changes, 'roots/list')
  else if (method === 'tools/list') send({ id, result: { tools: [{ name: 'wave', inputSchema: { type: 'object' } }] } })
  else if (method === undefined) appendFileSync(${JSON.stringify(log)}, JSON.stringify({ id, result, error }) + '\\n')
  else if (id !== undefined) send({ id, error: { code: -32601, message: 'no' } })
})
`

test('a question of an unapproved server is not shown, and it gets no roots before its approval', async () => {
  const place = folder()
  const log = join(place, 'log.jsonl')
  const file = join(place, 'eager.mjs')
  writeFileSync(log, '')
  writeFileSync(file, eager(log))
  const replies = (): Record<string, { result?: unknown; error?: unknown }> =>
    Object.fromEntries(
      readFileSync(log, 'utf8')
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line))
        .map(({ id, ...rest }) => [id, rest]),
    )
  let mayUse = false
  const ask = person(({ subject }) => (subject.kind === 'approve' && !mayUse ? NO : undefined))
  const model = spy()
  const host = await hostWith({
    servers: { eager: started(file) },
    ask,
    model,
    roots: [place],
    policy: { user: [{ id: 'look', effect: 'ask', match: { action: 'server.approve' } }] },
  })
  await until(() => ['form', 'sample', 'roots'].every((id) => replies()[id]))
  expect(ask.asked.map(({ subject }) => subject.kind)).toEqual(['launch', 'approve'])
  expect(model.asked).toEqual([])
  expect(replies().form?.result).toEqual({ action: 'cancel' })
  expect(replies().sample?.error).toBeDefined()
  expect(replies().roots?.result).toEqual({ roots: [] })
  mayUse = true
  await host.approve('eager')
  const again = () => Object.entries(replies()).filter(([id]) => id.startsWith('roots again'))
  await until(() => again().some(([, { result }]) => JSON.stringify(result).includes('file://')))
  expect(ask.saw('roots')).toHaveLength(1)
  for (const [, { error }] of again()) expect(error).toBeUndefined()
})

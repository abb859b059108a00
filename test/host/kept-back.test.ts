/** A result that is not let in: what was done stays done, and whoever wanted it is told so. */

import { expect, test } from 'vitest'
import { ask } from '../../src/host/policy-tools/index.ts'
import { createServer } from '../../src/server/index.ts'
import { calling, chat, hosts, refusing, says, spy } from './hosts.ts'

const { host: hostWith } = hosts()

const withResultsAsked = async (model = spy()) => {
  const server = createServer({ name: 'notes', version: '1' })
  let calls = 0
  server.tool('add', {}, () => `SECRET ${++calls}`)
  const host = await hostWith({
    servers: { notes: server },
    ask: refusing('result'),
    model,
    policy: { layers: { user: [ask('results', { action: 'tool.result' })] }, roots: {} },
  })
  return { host, calls: () => calls }
}

test('the person learns that the tool was called, and gets nothing of a withheld result', async () => {
  const { host, calls } = await withResultsAsked()
  const refused = await host.call('notes__add').catch((error: Error) => error)
  expect(refused).toMatchObject({ code: 'ERR_DENIED', message: expect.stringContaining('was called'), data: { by: 'person' } })
  expect(String(refused)).not.toContain('SECRET')
  expect(calls()).toBe(1)
})

test('the model learns it too, so that it does not repeat the call', async () => {
  const model = spy([calling('notes__add')], [says('done')])
  const { host, calls } = await withResultsAsked(model)
  await chat(host, 'add a note')
  expect(JSON.stringify(model.asked[1]?.messages)).toContain('was called and has answered')
  expect(JSON.stringify(model.asked)).not.toContain('SECRET')
  expect(calls()).toBe(1)
})

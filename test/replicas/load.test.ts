/** The clients of the runs under faults count a call as hung, wherever it hangs. */

import { createServer, type ServerResponse } from 'node:http'
import { expect, onTestFinished, test } from 'vitest'
import { portOf } from '../support/http-requests.ts'
import { counting } from './counted-call.ts'
import { Ledger } from './ledger.ts'
import { runCalls } from './load.ts'

const HUNG_MS = 300

/** Opens sessions, and answers a call and the GETs that resume it as the test says. */
async function scriptedUrl(answer: (method: string, response: ServerResponse) => void): Promise<string> {
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const chunk of request) text += chunk
    const { method } = JSON.parse(text || '{"method":"resume"}')
    if (method === 'initialize') response.writeHead(200, { 'mcp-session-id': 's' }).end('{}')
    else if (method === 'notifications/initialized') response.writeHead(202).end()
    else answer(method, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${portOf(server)}/mcp`
}

test.each<[string, (method: string, response: ServerResponse) => void]>([
  ['whose POST gets no headers', () => {}],
  [
    'whose stream has signs of life and no event',
    (_, response) => {
      response.writeHead(200).flushHeaders()
      const alive = setInterval(() => response.write(':\n\n'), 20)
      response.on('close', () => clearInterval(alive))
    },
  ],
  [
    'that was cut, and whose GET gets no headers',
    (method, response) => {
      if (method === 'tools/call') response.writeHead(200).end('id: 1\ndata:\n\n')
    },
  ],
])('a call %s counts as hung', async (_, answer) => {
  const url = await scriptedUrl(answer)
  const ledger = new Ledger()
  // One call: the load is over as soon as it was sent.
  const isOver = (): boolean => ledger.sent > 0
  await runCalls({ url }, ledger, { version: '2025-11-25', sessions: 1, isOver, call: counting({ to: 1, ms: 1 }), hungMs: HUNG_MS })
  expect(ledger.faults({ accepted: new Map() })).toEqual({ lost: 0, duplicated: 0, reordered: 0, hung: 1, foreign: 0 })
  expect([ledger.sent, ledger.answered, ledger.refused]).toEqual([1, 0, 0])
  expect(ledger.longestWaitMs).toBeGreaterThanOrEqual(HUNG_MS)
})

test('events of a call that was cut before its first event are counted, but not as lost', () => {
  const ledger = new Ledger()
  ledger.refuse('cut', undefined)
  ledger.refuse('refused', undefined)
  ledger.received.set('resumed', 4)
  const group = { accepted: new Map(Object.entries({ cut: 3, resumed: 5 })) }
  expect(ledger.unreachable(group)).toBe(3)
  expect(ledger.faults(group)).toEqual({ lost: 1, duplicated: 0, reordered: 0, hung: 0, foreign: 0 })
})

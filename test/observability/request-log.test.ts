import pino from 'pino'
import { expect, it } from 'vitest'
import { type RequestRecord, requestLog } from '../../src/observability/index.ts'
import { ToolError } from '../../src/server/index.ts'
import { http } from '../support/http-requests.ts'
import { askModern, callTool, modern, openSession, serve, testServer, until } from '../support/http-service.ts'
import { storesInMemory } from '../support/replicas.ts'

it('writes one line of a real pino logger for each request and refusal', async () => {
  const lines: Record<string, unknown>[] = []
  const logger = pino({ base: null }, { write: (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>) })
  const references: string[] = []
  const server = testServer({ onError: (_error, { reference }) => void references.push(reference) })
  server.tool('fail', {}, () => {
    throw new Error('broken')
  })
  server.tool('refuse', {}, () => {
    throw new ToolError('not today')
  })
  server.resource('x://broken', { name: 'broken' }, () => {
    throw new Error('broken')
  })
  const { url } = await serve(server, requestLog(logger))
  await askModern(url, callTool('hi'))
  const failed = await askModern(url, callTool('fail'))
  await askModern(url, callTool('refuse'))
  const broken = await askModern(url, { method: 'resources/read', params: { uri: 'x://broken' } })
  await http(url, modern(callTool('hi'), { origin: 'https://evil.example' }))
  await until(() => lines.length === 5)
  expect(lines.map(({ level, msg }) => [level, msg])).toEqual([
    [30, 'tools/call hi ok'],
    [50, 'tools/call fail tool_crash'],
    [40, 'tools/call refuse tool_error'],
    [50, 'resources/read x://broken error'],
    [40, 'refused: Origin not allowed: "https://evil.example" (allowedOrigins)'],
  ])
  expect(lines[0]).toMatchObject({ method: 'tools/call', target: 'hi', outcome: 'ok', revision: '2026-07-28', address: '127.0.0.1' })
  expect(lines[2]).not.toHaveProperty('reference')
  expect(lines[3]).toMatchObject({ code: -32603 })
  expect(lines[4]).toMatchObject({ status: 403, kind: 'origin', httpMethod: 'POST', path: '/mcp', address: '127.0.0.1' })
  // What the caller sees leads to the line, and from there to the error.
  expect(references).toHaveLength(2)
  expect([lines[1], lines[3]].map((line) => line?.reference)).toEqual(references)
  expect([failed.text, broken.text].map((text) => /reference ([\w-]+)/.exec(text)?.[1])).toEqual(references)
  expect(lines[0]).not.toHaveProperty('reference')
})

it('logs an internal error as an error, and what the server ended or a limit refused as a warning', () => {
  const lines: string[] = []
  const write = (level: string) => (_fields: object, message: string) => void lines.push(`${level} ${message}`)
  const { onRequest } = requestLog({ info: write('info'), warn: write('warn'), error: write('error') })
  const record = { method: 'tools/call', target: 'x', outcome: 'error', code: -32603, durationMs: 1 } as RequestRecord
  for (const reason of [undefined, 'other', 'replica_lost', 'store_down', 'shutdown', 'rate-limited', 'limit', 'too-many-requests'])
    onRequest({ ...record, reason })
  onRequest({ ...record, outcome: 'handed_over', code: undefined })
  expect(lines.map((line) => line.split(' ')[0])).toEqual(['error', 'error', ...Array(6).fill('warn'), 'info'])
})

it('names the client of a session that several replicas serve', async () => {
  const [store] = storesInMemory(1)
  const records: RequestRecord[] = []
  const { url } = await serve(testServer(), { store: store!, onRequest: (record) => records.push(record) })
  await (await openSession(url, '2025-11-25')).ask(callTool('hi'))
  await until(() => records.length === 2)
  expect(records.map(({ method, client }) => [method, client])).toEqual([
    ['initialize', expect.stringMatching(/^\S+\/\S+$/)],
    ['tools/call', records[0]?.client],
  ])
})

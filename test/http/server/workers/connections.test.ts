/** Connections of a program with workers: too many of them, and those of a worker that is gone. */

import { Agent } from 'node:http'
import { expect, onTestFinished, test, vi } from 'vitest'
import { http, rawHttp } from '../../../support/http-requests.ts'
import { untilStopped } from '../../../support/processes.ts'
import { pidAt, start } from './program.ts'

vi.setConfig({ testTimeout: 30_000 })
const GET = { method: 'GET', isBare: true }
const portOf = (url: string): number => Number(new URL(url).port)
const asking = 'GET /healthz HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n'

test('connections beyond maxConnections of each worker are closed at once, until others leave', async () => {
  const { url } = await start({ workers: 2, health: true, maxConnections: 2 })
  const agents = Array.from({ length: 4 }, () => new Agent({ keepAlive: true }))
  onTestFinished(() => agents.forEach((agent) => void agent.destroy()))
  // One after the other, so that each worker gets two.
  for (const agent of agents) expect((await http(new URL('/healthz', url).href, { ...GET, agent })).status).toBe(200)
  const refused = Array.from({ length: 20 }, () => rawHttp(portOf(url), asking))
  expect(await Promise.all(refused.map(({ closed }) => closed))).toEqual(refused.map(() => ''))
  for (const agent of agents) agent.destroy()
  await expect.poll(() => rawHttp(portOf(url), asking).closed).toContain('HTTP/1.1 200')
})

test('a connection that was handed to a stopped worker breaks when the worker is killed', async () => {
  const { url, pids } = await start({ workers: 2, health: true })
  const stopped = pids().get(1) as number
  process.kill(stopped, 'SIGSTOP')
  await untilStopped(stopped)
  const sockets = Array.from({ length: 6 }, () => rawHttp(portOf(url), asking))
  const isAnswered = ({ received }: { received: string }): boolean => received.startsWith('HTTP/1.1 200')
  await expect.poll(() => sockets.filter(isAnswered).length).toBe(5)
  process.kill(stopped, 'SIGKILL')
  const left = sockets.find((each) => !isAnswered(each))
  expect(await left?.closed).toBe('')
  await expect.poll(() => pids().get(1)).not.toBe(stopped)
  for (let i = 0; i < 4; i++) expect([...pids().values()]).toContain(await pidAt(url))
})

/** Session ids that no replica has made: they are refused without a look into the store. */

import { expect, test } from 'vitest'
import { randomId } from '../../../../src/base/bytes.ts'
import { redis } from '../../../../src/redis/index.ts'
import { byHeader, callTool, type HttpSession, openSession, sessionAt, testServer } from '../../../support/http-service.ts'
import { redisOfFile } from '../../../support/redis-server.ts'
import { serveReplicas } from '../../../support/replicas.ts'
import { type StoreCommandSeen, watchedStore } from '../../../support/watched-store.ts'

const redisServer = redisOfFile()
/** Too long to be renewed during the test: only requests cause commands. */
const LEASE_MS = 60_000
const ROUNDS = 25

const isRenewal = ({ about }: StoreCommandSeen): boolean => about === 'secret of session ids'

test('a forged or foreign session id costs no look at a session, and one renewal of the secret a second', async () => {
  const { url } = await redisServer()
  const prefix = `${randomId()}:`
  const { store, commands } = watchedStore(redis(url, { prefix, leaseMs: LEASE_MS }))
  const { urls } = await serveReplicas(() => testServer(), { stores: [store], count: 1, authenticate: byHeader })
  const [address] = urls as [string]
  const genuine = await openSession(address, '2025-11-25', { headers: { 'x-user': 'ada' } })
  const [random, code] = genuine.id.split('.') as [string, string]
  const forged = (id: string, user: string): HttpSession =>
    sessionAt(address, id, { ...genuine.headers, 'mcp-session-id': id, 'x-user': user })
  const began = performance.now()
  commands.length = 0
  for (let i = 0; i < ROUNDS; i++) {
    const sessions = [
      forged(`${randomId()}.${code}`, 'ada'),
      forged(`${random}.${randomId().slice(0, 16)}`, 'ada'),
      forged('anything', 'ada'),
      // The id is good, and belongs to somebody else.
      forged(genuine.id, 'grace'),
    ]
    for (const session of sessions) {
      expect((await session.ask(callTool('hi'))).status).toBe(404)
      expect((await session.post({ jsonrpc: '2.0', method: 'notifications/initialized' })).status).toBe(404)
      expect((await session.listen()).status).toBe(404)
      expect((await session.end()).status).toBe(404)
    }
  }
  const seconds = Math.ceil((performance.now() - began) / 1000)
  const [renewals, others] = [commands.filter(isRenewal), commands.filter((command) => !isRenewal(command))]
  // The secret is read and kept again, at once and then once a second.
  expect(renewals.length).toBeLessThanOrEqual(2 * (seconds + 1))
  // Places of the two callers are taken before their sessions are looked at. They are taken and given back for many requests together.
  const places = ['hold maxInFlightPerPrincipal ada', 'hold maxInFlightPerPrincipal grace']
  expect(others.map(({ name, about }) => `${name} ${about}`).filter((command) => !places.includes(command))).toEqual([])
  expect(others.length).toBeLessThanOrEqual(4 * (seconds + 1))
  expect((await genuine.ask(callTool('hi'))).status).toBe(200)
  expect(commands.some(({ part, name }) => part === 'sessions' && name === 'enter')).toBe(true)
})

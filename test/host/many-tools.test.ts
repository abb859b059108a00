/** A server that offers thousands of tools, and keeps changing them, costs the host no more than reading them. */

import { expect, test, vi } from 'vitest'
import { primitivesOf } from '../../src/host/approval/pin.ts'
import { openPins } from '../../src/host/approval/pin-store.ts'
import { approve, reviewOf } from '../../src/host/approval/review.ts'
import type { ReviewedServer, ReviewServices } from '../../src/host/approval/reviewed-server.ts'
import type { ActionRequest } from '../../src/host/consent/gate/gate.ts'
import type { Action } from '../../src/host/model/action.ts'
import type { Offering } from '../../src/host/model/offering.ts'
import type { Tool } from '../../src/protocol/model/tools.ts'
import { createServer } from '../../src/server/index.ts'
import { expectLinear } from '../support/linear.ts'
import { hosts, person, until } from './hosts.ts'

const hashed = vi.hoisted(() => ({ bytes: 0 }))
vi.mock('../../src/host/model/digest.ts', async (original) => {
  const { digestOf } = await original<typeof import('../../src/host/model/digest.ts')>()
  return {
    digestOf: (value: unknown) => {
      hashed.bytes += JSON.stringify(value)?.length ?? 0
      return digestOf(value)
    },
  }
})

const { host: hostWith } = hosts()

const surfaceOf = (count: number, round: number): Offering => ({
  info: undefined,
  instructions: undefined,
  capabilities: {},
  tools: Array.from({ length: count }, (_, at) => definition(at, round)),
  prompts: [],
  resources: [],
  templates: [],
})
const facts = { id: 'storm', fingerprint: 'f' }
/** A server that lists this and nothing else, of which something else was approved. */
const listing = (surface: Offering) => ({ id: 'storm', facts, shown: {}, offering: surface, stateOf: () => 'pinned' })

const definition = (at: number, round: number): Tool => ({
  name: `t${at}`,
  description: `Tool ${at} of round ${round}, which is told at some length so that it counts: ${'word '.repeat(40)}`,
  inputSchema: { type: 'object', properties: { a: { type: 'string' } } },
})

test('a listing is digested about once, even if many decisions use it', async () => {
  const COUNT = 1_000
  const service = createServer({ name: 'storm', version: '1' })
  const tools = Array.from({ length: COUNT }, (_, at) => {
    const { name, description = '' } = definition(at, 1)
    return service.tool(name, { description }, () => 'x')
  })
  const bytes = tools.reduce((sum, _, at) => sum + JSON.stringify(definition(at, 1)).length, 0)
  const ask = person()
  const approvals = (): number => ask.asked.filter(({ action }) => action === 'server.approve').length
  hashed.bytes = 0
  const host = await hostWith({ servers: { storm: service }, ask })
  expect(host.tools()).toHaveLength(COUNT)
  // Each definition once, and once more as it comes back from the disk; the digests of all a few times.
  expect(hashed.bytes).toBeLessThan(4 * bytes)
  hashed.bytes = 0
  for (const [at, tool] of tools.entries()) tool.update({ description: definition(at, 2).description ?? '' })
  await until(() => approvals() === 2)
  await host.settled()
  expect(host.tools()).toHaveLength(COUNT)
  expect(hashed.bytes).toBeLessThan(4 * bytes)
})

test('examining changes takes time in proportion to their number', async () => {
  const prepared = new Map<number, () => void>()
  const sizes = [1, 2, 4, 8].map((factor) => factor * 250)
  for (const size of sizes) {
    const pins = await openPins()
    await pins.adopt('storm', { fingerprint: 'f', parts: [], warnings: [] })
    await pins.approve(facts, primitivesOf(surfaceOf(size, 1)), 1)
    prepared.set(size, () => {
      expect(
        reviewOf(listing(surfaceOf(size, 2)) as unknown as ReviewedServer, { pins } as unknown as ReviewServices, [])?.items,
      ).toHaveLength(size)
    })
  }
  expectLinear(250, (size) => prepared.get(size) as () => void)
})

test('a question about an offering that has changed since is not shown', async () => {
  const pins = await openPins()
  const server = listing(surfaceOf(3, 1))
  let subject: Promise<unknown> | undefined
  const gate = {
    run: async (want: ActionRequest) => {
      const asked = want.describe()
      server.offering = surfaceOf(3, 2)
      subject = Promise.resolve(want.subject(asked as Action))
      await subject.catch(() => {})
      // By now it lists again what the question was to be about.
      server.offering = surfaceOf(3, 1)
      expect(want.describe().primitive?.pin).toBe(asked.primitive?.pin)
    },
  }
  await approve(server as unknown as ReviewedServer, { pins, gate, ownConversation: { id: 'r' } } as unknown as ReviewServices, [])
  await expect(subject).rejects.toMatchObject({ code: 'ERR_QUARANTINED' })
})

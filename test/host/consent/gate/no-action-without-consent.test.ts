/**
 * S8: whatever happens in whatever order, nothing is done without a person's yes that is for just this and still holds.
 * The model beside the gate knows only what people were asked and answered; it shares no code with grants and decisions.
 */

import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { RequestedAction } from '../../../../src/host/consent/gate/gate.ts'
import type { GrantScope } from '../../../../src/host/model/grant.ts'
import type { Answer, Question } from '../../../../src/host/model/question.ts'
import { counted, proofRuns } from '../../../support/proof.ts'
import { proves } from '../../../support/proves.ts'
import { DAY_MS, gateInMemory } from './gate-in-memory.ts'

const SERVERS = ['notes', 'deploy'] as const
const TOOLS = ['add', 'remove'] as const
const RUNS = ['first', 'second'] as const

type Event =
  | { kind: 'call'; server: number; tool: number; run: number; value: number; reply: Reply }
  | { kind: 'change-definition'; server: number; tool: number }
  | { kind: 'approve-definition'; server: number; tool: number }
  | { kind: 'change-server'; server: number }
  | { kind: 'next-turn'; run: number }
  | { kind: 'revoke-all' }
  | { kind: 'revoke-server'; server: number }
  | { kind: 'pass-time'; ms: number }

/** What the person will say if they are asked, and what happens while they think. */
interface Reply {
  answer: 'allow' | 'deny' | 'cancel'
  scope: GrantScope
  width: 'exact' | 'any'
  edit: number | undefined
  meanwhile: 'nothing' | 'definition changes' | 'server changes'
}

/** A yes, as the model remembers it. */
interface Yes {
  server: string
  tool: string
  serverVersion: number
  toolVersion: number
  run: string
  turn: number
  /** Undefined for any. */
  value: number | undefined
  scope: GrantScope
  at: number
  isRevoked: boolean
  isSpent: boolean
}

const small = (max: number) => fc.integer({ min: 0, max: max - 1 })

const reply: fc.Arbitrary<Reply> = fc.record({
  answer: fc.constantFrom('allow', 'allow', 'deny', 'cancel'),
  scope: fc.constantFrom('once', 'turn', 'session', 'project', 'always'),
  width: fc.constantFrom('exact', 'any'),
  edit: fc.option(small(3), { nil: undefined, freq: 6 }),
  meanwhile: fc.constantFrom('nothing', 'nothing', 'nothing', 'definition changes', 'server changes'),
})

const event: fc.Arbitrary<Event> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('call' as const),
      server: small(2),
      tool: small(2),
      run: small(2),
      value: small(3),
      reply,
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('change-definition' as const), server: small(2), tool: small(2) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('approve-definition' as const), server: small(2), tool: small(2) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('change-server' as const), server: small(2) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('next-turn' as const), run: small(2) }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'revoke-all' as const }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('revoke-server' as const), server: small(2) }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('pass-time' as const), ms: fc.constantFrom(60_000, DAY_MS / 2, 2 * DAY_MS, 31 * DAY_MS) }),
  },
)

const LASTS: Record<GrantScope, number> = {
  once: DAY_MS / 96,
  turn: DAY_MS / 24,
  session: DAY_MS,
  project: Number.POSITIVE_INFINITY,
  always: Number.POSITIVE_INFINITY,
}

class World {
  gate!: Awaited<ReturnType<typeof gateInMemory>>
  readonly serverVersions: Record<string, number> = { notes: 0, deploy: 0 }
  readonly toolVersions: Record<string, number> = {}
  readonly pinned: Record<string, number> = {}
  readonly turns: Record<string, number> = { first: 0, second: 0 }
  readonly yeses: Yes[] = []
  performed = 0
  steps = 0
  #reply: Reply | undefined
  #current: { server: string; tool: string; run: string; value: number } | undefined

  static async create(): Promise<World> {
    const world = new World()
    world.gate = await gateInMemory((question) => world.#person(question))
    return world
  }

  async apply(event: Event): Promise<void> {
    this.steps++
    switch (event.kind) {
      case 'call':
        return this.#call(SERVERS[event.server]!, TOOLS[event.tool]!, RUNS[event.run]!, event.value, event.reply)
      case 'change-definition':
        return this.#changeDefinition(SERVERS[event.server]!, TOOLS[event.tool]!)
      case 'approve-definition': {
        const key = `${SERVERS[event.server]}/${TOOLS[event.tool]}`
        this.pinned[key] = this.toolVersions[key] ?? 0
        return
      }
      case 'change-server':
        this.serverVersions[SERVERS[event.server]!]!++
        return
      case 'next-turn': {
        const run = RUNS[event.run]!
        await this.gate.grants.endTurn(run, ++this.turns[run]!)
        return
      }
      case 'revoke-all':
        for (const yes of this.yeses) yes.isRevoked = true
        await this.gate.grants.revoke({})
        return
      case 'revoke-server': {
        const server = SERVERS[event.server]!
        for (const yes of this.yeses) if (yes.server === server) yes.isRevoked = true
        await this.gate.grants.revoke({ server })
        return
      }
      case 'pass-time':
        this.gate.passTime(event.ms)
    }
  }

  #changeDefinition(server: string, tool: string): void {
    const key = `${server}/${tool}`
    this.toolVersions[key] = (this.toolVersions[key] ?? 0) + 1
  }

  async #call(server: string, tool: string, run: string, value: number, reply: Reply): Promise<void> {
    this.#reply = reply
    this.#current = { server, tool, run, value }
    let args: Record<string, unknown> = { value }
    const before = this.yeses.length
    await this.gate.gate
      .run(
        {
          describe: () => this.#describe(server, tool, run, args),
          subject: () => ({
            kind: 'call',
            tool: { name: tool, inputSchema: { type: 'object' } },
            args,
            pattern: {},
            lastArgs: undefined,
            destination: 'local',
            origins: [],
          }),
          server: { id: server, title: server, where: server },
          chain: ['you', 'model'],
          edit: (edited) => {
            args = edited as Record<string, unknown>
          },
        },
        async (permit) => {
          this.performed++
          const done = permit.action.args.value as number
          expect(this.pinned[`${server}/${tool}`], 'done though its definition was not approved').toBe(
            this.toolVersions[`${server}/${tool}`] ?? 0,
          )
          const yes = this.#justification(server, tool, run, done)
          expect(yes, `done without a yes: ${server}/${tool} ${JSON.stringify(permit.action.args)}`).toBeDefined()
          if (yes!.scope === 'once') yes!.isSpent = true
          this.#expectWrittenDown(permit.action.kind)
        },
      )
      .catch((error: { code?: string }) => {
        if (!['ERR_DENIED', 'ERR_QUARANTINED', 'ERR_CONSENT'].includes(error.code ?? '')) throw error
        // A yes to something that was gone when it came is a yes to nothing.
        for (const yes of this.yeses.slice(before)) if (yes.scope === 'once') yes.isSpent = true
      })
  }

  /** The oldest that holds, and of those the one that is spent by use last. */
  #justification(server: string, tool: string, run: string, value: number): Yes | undefined {
    const now = this.gate.wallNow()
    const holding = this.yeses.filter(
      (yes) =>
        !yes.isRevoked &&
        !yes.isSpent &&
        yes.server === server &&
        yes.tool === tool &&
        yes.serverVersion === this.serverVersions[server] &&
        yes.toolVersion === (this.toolVersions[`${server}/${tool}`] ?? 0) &&
        (yes.value === undefined || yes.value === value) &&
        now < yes.at + LASTS[yes.scope] &&
        (yes.scope === 'project' || yes.scope === 'always' || yes.run === run) &&
        (yes.scope !== 'turn' || yes.turn === this.turns[run]),
    )
    return holding.findLast(({ scope }) => scope === 'once') ?? holding[0]
  }

  #expectWrittenDown(kind: string): void {
    const last = this.gate.entries.at(-1)
    expect(last?.action, 'done without being written down').toBe(kind)
    expect(last?.effect).toBe('allow')
  }

  #describe(server: string, tool: string, run: string, args: Record<string, unknown>): RequestedAction {
    const version = this.toolVersions[`${server}/${tool}`] ?? 0
    const pinned = this.pinned[`${server}/${tool}`]
    return {
      kind: 'tool.call',
      run,
      turn: this.turns[run]!,
      initiator: 'model',
      server: { id: server, fingerprint: `v${this.serverVersions[server]}`, tier: 'trusted', isKnown: true, labels: [] },
      primitive: {
        kind: 'tool',
        name: tool,
        pin: `v${version}`,
        state: pinned === undefined ? 'unseen' : pinned === version ? 'pinned' : 'changed',
      },
      claimed: {},
      asserted: { destructiveHint: false, openWorldHint: false },
      args,
      labels: [],
    }
  }

  async #person(question: Question): Promise<Answer> {
    const { answer, scope, width, edit, meanwhile } = this.#reply!
    const { server, tool, run, value } = this.#current!
    const versions = { serverVersion: this.serverVersions[server]!, toolVersion: this.toolVersions[`${server}/${tool}`] ?? 0 }
    if (meanwhile === 'definition changes') this.#changeDefinition(server, tool)
    if (meanwhile === 'server changes') this.serverVersions[server]!++
    if (answer !== 'allow') return { kind: answer }
    const isForced = question.scopes.length === 1
    const meant = isForced ? 'once' : scope
    this.yeses.push({
      server,
      tool,
      ...versions,
      run,
      turn: this.turns[run]!,
      value: meant === 'once' || width === 'exact' ? (edit ?? value) : undefined,
      scope: meant,
      at: this.gate.wallNow(),
      isRevoked: false,
      isSpent: false,
    })
    return { kind: 'allow', scope, width, ...(edit !== undefined && { edited: { value: edit } }) }
  }
}

test('no sequence of a million events leads to an action without a valid approval', {
  timeout: proofRuns(300_000),
}, async () => {
  proves('T-HOST-005')
  let steps = 0
  let performed = 0
  await fc.assert(
    fc.asyncProperty(fc.array(event, { minLength: 1, maxLength: 500, size: 'max' }), async (events) => {
      const world = await World.create()
      for (const each of events) await world.apply(each)
      steps += world.steps
      performed += world.performed
    }),
    { numRuns: proofRuns(4000), interruptAfterTimeLimit: proofRuns(240_000), markInterruptAsFailure: true },
  )
  counted({ events: steps, 'actions, each after a live and matching yes': performed })
  expect(steps).toBeGreaterThan(900_000)
  // A gate that does nothing at all would pass, too.
  expect(performed).toBeGreaterThan(steps / 20)
})

/**
 * S8: whatever happens in whatever order, nothing is done without a person's yes that is for just this and still holds.
 * The model beside the gate knows only what people were asked and answered, what they accepted as read-only, the preset, and where a
 * conversation has been; it shares no code with grants and decisions.
 */

import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { RequestedAction } from '../../../../src/host/consent/gate/gate.ts'
import type { GrantScope } from '../../../../src/host/model/grant.ts'
import type { Answer, Question } from '../../../../src/host/model/question.ts'
import { PRESETS, type Preset } from '../../../../src/host/model/rule.ts'
import { counted, proofRuns } from '../../../support/proof.ts'
import { proves } from '../../../support/proves.ts'
import { DAY_MS, gateInMemory } from './gate-in-memory.ts'

const SERVERS = ['notes', 'deploy'] as const
const TOOLS = ['add', 'remove'] as const
const RUNS = ['first', 'second'] as const

type Event =
  | { kind: 'call'; server: number; tool: number; run: number; value: number; isByPerson: boolean; reply: Reply }
  /** The server lists what it offers. */
  | { kind: 'offer'; server: number; reply: Reply }
  | { kind: 'accept'; server: number; tool: number; isRevoked: boolean }
  | { kind: 'preset'; preset: Preset }
  /** Text of strangers, or private data, comes into a conversation. */
  | { kind: 'label'; run: number; label: 'untrusted' | 'private:mail' }
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
  /** The number of the call that it was given for. */
  call: number
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
      isByPerson: fc.constantFrom(false, false, false, true),
      reply,
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('offer' as const), server: small(2), reply }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('accept' as const),
      server: small(2),
      tool: small(2),
      isRevoked: fc.constantFrom(false, false, true),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('preset' as const), preset: fc.constantFrom(...PRESETS) }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('label' as const), run: small(2), label: fc.constantFrom('untrusted', 'private:mail') }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('change-definition' as const), server: small(2), tool: small(2) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('approve-definition' as const), server: small(2), tool: small(2) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('change-server' as const), server: small(2) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('next-turn' as const), run: small(2) }) },
  // Often, so that few grants are left to look through.
  { weight: 2, arbitrary: fc.constant({ kind: 'revoke-all' as const }) },
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
  /** The versions of server and tool that the person accepted as read-only. */
  readonly accepted: Record<string, { server: number; tool: number } | undefined> = {}
  /** Whether this version of a server has listed what it offers. */
  readonly offered = new Set<string>()
  readonly labels: Record<string, Set<string>> = { first: new Set(), second: new Set() }
  readonly untrustedSince: Record<string, number | undefined> = {}
  /** The last call of a model in each conversation, and how often in a row. */
  readonly rows: Record<string, { text: string; count: number } | undefined> = {}
  preset: Preset = 'balanced'
  calls = 0
  free = 0
  performed = 0
  steps = 0
  #reply: Reply | undefined
  #current: { server: string; tool: string; run: string; value: number; isForced: boolean } | undefined

  static async create(): Promise<World> {
    const world = new World()
    world.gate = await gateInMemory((question) => world.#person(question))
    return world
  }

  async apply(event: Event): Promise<void> {
    this.steps++
    switch (event.kind) {
      case 'call':
        return this.#call(SERVERS[event.server]!, TOOLS[event.tool]!, RUNS[event.run]!, event)
      case 'offer':
        return this.#offer(SERVERS[event.server]!, event.reply)
      case 'accept': {
        const [server, key] = [SERVERS[event.server]!, `${SERVERS[event.server]}/${TOOLS[event.tool]}`]
        const tool = this.toolVersions[key] ?? 0
        if (event.isRevoked) this.accepted[key] = undefined
        else if (this.pinned[key] === tool) this.accepted[key] = { server: this.serverVersions[server]!, tool }
        return
      }
      case 'preset':
        this.preset = event.preset
        this.gate.setPolicy({ layers: {}, roots: {}, presets: { user: event.preset } })
        return
      case 'label': {
        const run = RUNS[event.run]!
        if (event.label === 'untrusted' && !this.labels[run]!.has('untrusted')) this.untrustedSince[run] = this.gate.wallNow()
        this.labels[run]!.add(event.label)
        return
      }
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
        this.yeses.length = 0
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

  /** The first offering of a server that the person started is in use without a question. Any other needs a yes. */
  async #offer(server: string, reply: Reply): Promise<void> {
    const version = `${server} ${this.serverVersions[server]}`
    const isFirst = !this.offered.has(version)
    this.offered.add(version)
    this.#reply = { ...reply, edit: undefined, meanwhile: 'nothing' }
    this.#current = { server, tool: 'everything', run: 'own', value: 0, isForced: true }
    const before = this.yeses.length
    await this.gate.gate
      .run(
        {
          describe: () => ({
            ...this.#describe(server, 'add', 'first', {}, true),
            kind: 'server.approve',
            run: 'own',
            primitive: { kind: 'capabilities', name: 'everything', pin: version, state: 'unseen' },
            ...(isFirst && { isFirstOffering: true }),
          }),
          subject: () => ({ kind: 'approve', items: [], isFirst }),
          server: { id: server, title: server, where: server },
          chain: ['you'],
        },
        async () => {
          const isAnswered = this.yeses.length > before
          expect(isAnswered || (isFirst && this.preset !== 'cautious'), 'a later offering is in use without a yes').toBe(true)
          for (const tool of TOOLS) this.pinned[`${server}/${tool}`] = this.toolVersions[`${server}/${tool}`] ?? 0
        },
      )
      .catch(expectRefusal)
    // It was for this offering only.
    this.yeses.length = before
  }

  /** What must be asked each time, whatever was agreed to. */
  #isForced(server: string, run: string, isByPerson: boolean): boolean {
    const isLeak = server === 'deploy' && this.labels[run]!.has('untrusted') && this.labels[run]!.has('private:mail')
    return isLeak || (!isByPerson && (this.rows[run]?.count ?? 0) >= 3)
  }

  /** What needs no yes of the person, because they do it themselves, or because of what they said before. */
  #isFree(server: string, tool: string, run: string, isByPerson: boolean): boolean {
    const isTrusted = server === 'notes'
    const isDestructive = isTrusted && tool === 'remove'
    if (isByPerson && isTrusted && !isDestructive) return true
    if (this.preset === 'cautious' || isDestructive) return false
    if (this.preset === 'trusting' && isTrusted) return true
    return this.#isAccepted(server, tool) && (isTrusted || !this.labels[run]!.has('private:mail'))
  }

  #isAccepted(server: string, tool: string): boolean {
    const accepted = this.accepted[`${server}/${tool}`]
    return accepted?.server === this.serverVersions[server] && accepted?.tool === (this.toolVersions[`${server}/${tool}`] ?? 0)
  }

  async #call(
    server: string,
    tool: string,
    run: string,
    { value, isByPerson, reply }: { value: number; isByPerson: boolean; reply: Reply },
  ): Promise<void> {
    this.calls++
    if (!isByPerson) {
      const text = `${this.turns[run]} ${server} ${tool} ${value}`
      this.rows[run] = { text, count: this.rows[run]?.text === text ? this.rows[run]!.count + 1 : 1 }
    }
    const isForced = this.#isForced(server, run, isByPerson)
    this.#reply = reply
    this.#current = { server, tool, run, value, isForced }
    let args: Record<string, unknown> = { value }
    const before = this.yeses.length
    await this.gate.gate
      .run(
        {
          describe: () => this.#describe(server, tool, run, args, isByPerson),
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
          const isFree = !isForced && this.#isFree(server, tool, run, isByPerson)
          const yes = this.#justification(server, tool, run, done, isForced)
          expect(isFree || yes !== undefined, `done without a yes: ${server}/${tool} ${JSON.stringify(permit.action.args)}`).toBe(true)
          if (isFree) this.free++
          if (yes?.scope === 'once') yes.isSpent = true
          this.#expectWrittenDown(permit.action.kind)
        },
      )
      .catch((error: { code?: string }) => {
        expectRefusal(error)
        // A yes to something that was gone when it came is a yes to nothing.
        for (const yes of this.yeses.slice(before)) if (yes.scope === 'once') yes.isSpent = true
      })
  }

  /** The oldest that holds, and of those the one that is spent by use last. */
  #justification(server: string, tool: string, run: string, value: number, isForced: boolean): Yes | undefined {
    const now = this.gate.wallNow()
    // Text of strangers may be what causes something destructive. What was agreed to for good, with just these values, is no news.
    const since = server === 'notes' && tool === 'remove' ? (this.untrustedSince[run] ?? 0) : 0
    const holding = this.yeses.filter(
      (yes) =>
        !yes.isRevoked &&
        !yes.isSpent &&
        yes.server === server &&
        yes.tool === tool &&
        yes.serverVersion === this.serverVersions[server] &&
        yes.toolVersion === (this.toolVersions[`${server}/${tool}`] ?? 0) &&
        (yes.value === undefined || yes.value === value) &&
        (!isForced || yes.call === this.calls) &&
        (yes.at >= since || (yes.scope === 'always' && yes.value !== undefined)) &&
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

  #describe(server: string, tool: string, run: string, args: Record<string, unknown>, isByPerson: boolean): RequestedAction {
    const version = this.toolVersions[`${server}/${tool}`] ?? 0
    const pinned = this.pinned[`${server}/${tool}`]
    return {
      kind: 'tool.call',
      run,
      turn: this.turns[run]!,
      initiator: isByPerson ? 'user' : 'model',
      server: {
        id: server,
        fingerprint: `v${this.serverVersions[server]}`,
        tier: server === 'notes' ? 'trusted' : 'untrusted',
        isKnown: true,
        labels: [],
      },
      primitive: {
        kind: 'tool',
        name: tool,
        pin: `v${version}`,
        state: pinned === undefined ? 'unseen' : pinned === version ? 'pinned' : 'changed',
        ...(this.#isAccepted(server, tool) && { isAcceptedReadOnly: true }),
      },
      claimed: server === 'deploy' ? { readOnlyHint: tool === 'add' } : { destructiveHint: tool === 'remove' },
      asserted: this.#isAccepted(server, tool) && server === 'deploy' ? { readOnlyHint: true } : {},
      args,
      labels: [...(this.labels[run] ?? [])],
      ...(this.untrustedSince[run] !== undefined && { untrustedSince: this.untrustedSince[run] }),
    }
  }

  /** How long a yes of this width can hold. */
  #atMost(scope: GrantScope, server: string, tool: string, width: 'exact' | 'any'): GrantScope {
    const isDestructive = server === 'notes' && tool === 'remove'
    if (this.preset === 'cautious') return shorter(scope, isDestructive ? 'turn' : server === 'deploy' ? 'session' : 'always')
    return isDestructive && width === 'any' ? shorter(scope, 'turn') : scope
  }

  async #person(question: Question): Promise<Answer> {
    const { answer, scope, width, edit, meanwhile } = this.#reply!
    const { server, tool, run, value, isForced } = this.#current!
    const versions = { serverVersion: this.serverVersions[server]!, toolVersion: this.toolVersions[`${server}/${tool}`] ?? 0 }
    if (meanwhile === 'definition changes') this.#changeDefinition(server, tool)
    if (meanwhile === 'server changes') this.serverVersions[server]!++
    if (answer !== 'allow') return { kind: answer }
    if (isForced) expect(question.scopes, 'a lasting yes was offered where only one for once can hold').toEqual(['once'])
    const meant = isForced ? 'once' : this.#atMost(scope, server, tool, width)
    this.yeses.push({
      server,
      tool,
      ...versions,
      run,
      turn: this.turns[run] ?? 0,
      call: this.calls,
      value: meant === 'once' || width === 'exact' ? (edit ?? value) : undefined,
      scope: meant,
      at: this.gate.wallNow(),
      isRevoked: false,
      isSpent: false,
    })
    return { kind: 'allow', scope, width, ...(edit !== undefined && { edited: { value: edit } }) }
  }
}

const ORDER: readonly GrantScope[] = ['once', 'turn', 'session', 'project', 'always']

const shorter = (a: GrantScope, b: GrantScope): GrantScope => (ORDER.indexOf(a) < ORDER.indexOf(b) ? a : b)

function expectRefusal(error: { code?: string }): void {
  if (!['ERR_DENIED', 'ERR_QUARANTINED', 'ERR_CONSENT'].includes(error.code ?? '')) throw error
}

test('no sequence of a million events leads to an action without a valid approval', {
  timeout: proofRuns(540_000),
}, async () => {
  proves('T-HOST-005')
  let steps = 0
  let performed = 0
  let free = 0
  await fc.assert(
    fc.asyncProperty(fc.array(event, { minLength: 1, maxLength: 500, size: 'max' }), async (events) => {
      const world = await World.create()
      for (const each of events) await world.apply(each)
      steps += world.steps
      performed += world.performed
      free += world.free
    }),
    { numRuns: proofRuns(4000), interruptAfterTimeLimit: proofRuns(480_000), markInterruptAsFailure: true },
  )
  counted({ events: steps, 'actions, each after a live and matching yes or by a preset': performed, 'without a question': free })
  expect(steps).toBeGreaterThan(900_000)
  // A gate that does nothing at all would pass, too.
  expect(performed).toBeGreaterThan(steps / 20)
  expect(free).toBeGreaterThan(steps / 100)
  expect(performed - free).toBeGreaterThan(steps / 40)
})

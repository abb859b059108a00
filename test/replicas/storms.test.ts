/**
 * Long runs under faults, for `npm run proof`: many sessions call through the balancer while replicas and Redis fail. Each run prints a
 * ledger. PORTICO_PROOF_SESSIONS and PORTICO_PROOF_EVENTS set the size.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { startCluster } from '../redis/redis-cluster.ts'
import { tcpProxy } from '../redis/tcp-proxy.ts'
import { STREAMABLE } from '../support/http-service.ts'
import { counted, isProof, proofSize } from '../support/proof.ts'
import { startRedis } from '../support/redis-server.ts'
import { until } from '../support/until.ts'
import { asking } from './asking-call.ts'
import { counting } from './counted-call.ts'
import { Ledger } from './ledger.ts'
import { type LoadOptions, pauseOf, runCalls } from './load.ts'
import { type Front, type ReplicaGroup, type ReplicaProcess, startGroup } from './replica-group.ts'
import { RETRY_MS, SILENCE_MS } from './resumed-call.ts'

const SESSIONS = proofSize('SESSIONS', 0, 1000)
const EVENTS = proofSize('EVENTS', 0, 100_000)
const LEASE_MS = 5000
/** Of commands to Redis. A replica finds out so late that a connection hangs. */
const TIMEOUT_MS = 2000
/** Sessions end two minutes after the run, so that the test sees that nothing is left. Clients of a busy machine wait less than that. */
const STORMY = { leaseMs: LEASE_MS, timeoutMs: TIMEOUT_MS, limits: { sessionIdleMs: 120_000, keepAliveMs: 500 } }
const HOUR = 3_600_000
/** After the end of a lease, as the documentation promises. */
const AFTER_LEASE_MS = 2000
/**
 * Replicas that die one after the other while they take over the same stream. A replica takes over for less than a second, and one of three
 * dies every two seconds or more, so each further death has a chance below 1 in 5. A fourth in a row would be one in a thousand kills.
 */
const FURTHER_DEATHS = 3
/** Until a replica is connected to Redis again, once that can be reached: the longest pause between two attempts. */
const CONNECTING_MS = 1000
/** Until the events of a call go on, or it ends, when Redis is there again: leases may have ended, and clients come back to silent streams. */
const AFTER_OUTAGE_MS = CONNECTING_MS + LEASE_MS + AFTER_LEASE_MS + SILENCE_MS + RETRY_MS
/** How long the network loses what passes. */
const NETWORK_FAULT_MS = 300
/** A cluster has another primary by then. If not, the old one comes back. The nodes count a silent one as failed after a second. */
const FAILOVER_MS = 6000
/** How long a replica is stopped. */
const STOPPED_MS = LEASE_MS + 3000
/** The longest time that a person takes to answer. */
const THINKING_MS = 6000
const NO_FAULTS = { lost: 0, duplicated: 0, reordered: 0, hung: 0, foreign: 0 }

const longTest = test.runIf(isProof)

interface Storm {
  what: string
  group: ReplicaGroup
  fault(n: number): Promise<void>
  minFaults: number
  /** Default: calls of `count`, in each revision. */
  loads?: Pick<LoadOptions, 'version' | 'call' | 'capabilities'>[]
  /** Default: EVENTS were accepted. */
  isEnough?(ledger: Ledger): boolean
}

const COUNTING: NonNullable<Storm['loads']> = STREAMABLE.map((version) => ({
  version,
  call: counting({ to: 20, ms: pauseOf(SESSIONS) }),
}))

/** Puts load on a group until it was enough and enough faults have happened. */
async function storm({ what, group, fault, minFaults, loads = COUNTING, ...options }: Storm): Promise<Ledger> {
  const { isEnough = () => group.acceptedCount >= EVENTS } = options
  onTestFinished(() => group.close())
  const ledger = new Ledger()
  let isOver = false
  const started = performance.now()
  const sessions = Math.ceil(SESSIONS / loads.length)
  const load = Promise.all(loads.map((each) => runCalls(group, ledger, { ...each, sessions, isOver: () => isOver })))
  // A client that fails ends the run.
  load.catch(() => {
    isOver = true
  })
  let faults = 0
  await until(() => isOver || ledger.answered > 0, 300_000)
  while (!isOver) {
    await fault(faults++)
    ledger.lookAtLoad()
    isOver ||= faults >= minFaults && isEnough(ledger)
  }
  await load
  const seconds = Math.round((performance.now() - started) / 1000)
  ledger.print(`${what}: ${SESSIONS} sessions, ${faults} faults, ${seconds} s`, group)
  return ledger
}

const oneOf = <T>(items: Iterable<T>): T => {
  const all = [...items]
  return all[Math.floor(Math.random() * all.length)] as T
}

async function endAll(group: ReplicaGroup): Promise<void> {
  await Promise.all([...group.replicas].map((replica, i) => replica.end(i === 0 ? 'SIGKILL' : 'SIGTERM')))
}

longTest.each<{ behind: string; front: Front; isBalanced: boolean }>([
  { behind: 'a balancer', front: 'random', isBalanced: false },
  // A reload tells nginx of the new replicas. It finds out by itself which one is dead, and is told later.
  { behind: 'nginx', front: 'nginx', isBalanced: true },
])(
  'no event is lost while replicas behind $behind are killed at random and replaced',
  async ({ behind, front, isBalanced }) => {
    const redisServer = await startRedis()
    onTestFinished(() => redisServer.close())
    const group = await startGroup({ redisUrl: redisServer.url, front, ...STORMY })
    const ledger = await storm({
      what: `kill -9 of a replica behind ${behind} every two seconds`,
      group,
      fault: async () => {
        const next = group.start()
        await sleep(2000)
        await oneOf(group.replicas).end('SIGKILL', { isBalanced })
        await next
      },
      minFaults: 10,
    })
    expect(ledger.faults(group)).toEqual(NO_FAULTS)
    expect(ledger.cursorsRefused + ledger.sessionsLost).toBe(0)
    ledger.checkLongestWait(LEASE_MS + AFTER_LEASE_MS + FURTHER_DEATHS * LEASE_MS)
    await endAll(group)
    await until(async () => (await redisServer.scan()).length === 0, 600_000)
  },
  HOUR,
)

longTest(
  'no event is lost while replicas are stopped for longer than their lease and go on',
  async () => {
    const redisServer = await startRedis()
    onTestFinished(() => redisServer.close())
    const group = await startGroup({ redisUrl: redisServer.url, ...STORMY })
    const ledger = await storm({
      what: 'a replica stopped for longer than its lease',
      group,
      fault: async () => {
        const zombie: ReplicaProcess = oneOf(group.replicas)
        zombie.child.kill('SIGSTOP')
        // Health checks of the balancer find it.
        await group.balancer.remove(zombie.port)
        await sleep(STOPPED_MS)
        zombie.child.kill('SIGCONT')
        await sleep(1000)
        await group.balancer.add(zombie.port)
        await sleep(1000)
      },
      minFaults: 4,
    })
    expect(ledger.faults(group)).toEqual(NO_FAULTS)
    expect(ledger.cursorsRefused + ledger.sessionsLost).toBe(0)
    // A request that waits at the stopped replica itself is answered when that goes on. One is stopped at a time, so there is no further death.
    ledger.checkLongestWait(STOPPED_MS + AFTER_LEASE_MS)
    await endAll(group)
    await until(async () => (await redisServer.scan()).length === 0, 600_000)
  },
  HOUR,
)

longTest(
  'restartable calls that ask get one answer each while replicas are killed at random and replaced',
  async () => {
    const redisServer = await startRedis()
    onTestFinished(() => redisServer.close())
    const group = await startGroup({ redisUrl: redisServer.url, ...STORMY })
    const ledger = await storm({
      what: 'restartable calls with questions, kill -9 of a replica every two seconds',
      group,
      fault: async () => {
        const next = group.start()
        await sleep(2000)
        await oneOf(group.replicas).end('SIGKILL')
        await next
      },
      minFaults: 10,
      // Older clients have no position before the question, and could not come back for it.
      loads: [{ version: '2025-11-25', call: asking(THINKING_MS), capabilities: { elicitation: {} } }],
      isEnough: ({ answered }) => answered >= EVENTS / 10,
    })
    expect(ledger.faults(group)).toEqual(NO_FAULTS)
    expect(ledger.cursorsRefused + ledger.sessionsLost).toBe(0)
    const steps = ledger.answeredRuns.map((run) => group.steps.get(run) ?? 0)
    const again = steps.reduce((sum, count) => sum + count - 1, 0)
    console.log(`Of ${steps.length} answered calls, steps of \`ctx.once\` were run again: ${again}`)
    counted({ 'steps of ctx.once run again': again })
    expect(Math.min(...steps)).toBe(1)
    ledger.checkLongestWait(THINKING_MS + LEASE_MS + AFTER_LEASE_MS + FURTHER_DEATHS * LEASE_MS)
    await endAll(group)
    await until(async () => (await redisServer.scan()).length === 0, 600_000)
  },
  HOUR,
)

longTest.each([
  { policy: 'always', signals: ['SIGTERM', 'SIGKILL'], isLossless: true },
  { policy: 'everysec', signals: ['SIGTERM'], isLossless: true },
  { policy: 'everysec', signals: ['SIGKILL'], isLossless: false },
] as const)(
  'Redis with appendfsync $policy is ended with $signals under load and loses no more than it may',
  async ({ policy, signals, isLossless }) => {
    const redisServer = await startRedis(['--appendonly', 'yes', '--appendfsync', policy])
    onTestFinished(() => redisServer.close())
    const group = await startGroup({ redisUrl: redisServer.url, ...STORMY })
    const down: number[] = []
    const ledger = await storm({
      what: `Redis ended with ${signals.join(' and ')}, appendfsync ${policy}`,
      group,
      fault: async (n) => {
        const stoppedAt = performance.now()
        await redisServer.stop(signals[n % signals.length])
        await sleep(500)
        await redisServer.start()
        down.push(Math.round(performance.now() - stoppedAt))
        await sleep(LEASE_MS)
      },
      minFaults: 6,
    })
    console.log(`Redis was down for ${down.join(', ')} ms. Above ${LEASE_MS} ms leases end, and calls end with replica_lost`)
    const { lost, ...others } = ledger.faults(group)
    expect(others).toEqual({ duplicated: 0, reordered: 0, hung: 0, foreign: 0 })
    if (isLossless) expect([lost, ledger.cursorsRefused, ledger.sessionsLost]).toEqual([0, 0, 0])
    ledger.checkLongestWait(Math.max(...down) + AFTER_OUTAGE_MS)
    await endAll(group)
    await until(async () => (await redisServer.scan()).length === 0, 600_000)
  },
  HOUR,
)

longTest(
  'no event is lost while the network to Redis is slow, cuts connections and lets them hang',
  async () => {
    const redisServer = await startRedis()
    const proxy = await tcpProxy(redisServer.port)
    onTestFinished(async () => {
      await proxy.close()
      await redisServer.close()
    })
    const group = await startGroup({ redisUrl: `redis://127.0.0.1:${proxy.port}`, ...STORMY })
    const faults = [() => proxy.delay(20), () => proxy.cut(), () => proxy.hang('replies'), () => proxy.hang('both'), () => proxy.cut()]
    const ledger = await storm({
      what: 'a slow network that cuts connections and lets them hang',
      group,
      fault: async (n) => {
        faults[n % faults.length]?.()
        await sleep(NETWORK_FAULT_MS)
        proxy.heal()
        await sleep(2500)
        proxy.delay(0)
      },
      minFaults: 15,
    })
    expect(ledger.faults(group)).toEqual(NO_FAULTS)
    expect(ledger.cursorsRefused + ledger.sessionsLost).toBe(0)
    // The next fault comes before a lease ends, so it may meet the replica that takes over.
    ledger.checkLongestWait(2 * (NETWORK_FAULT_MS + TIMEOUT_MS) + AFTER_OUTAGE_MS)
    await endAll(group)
    await until(async () => (await redisServer.scan()).length === 0, 600_000)
  },
  HOUR,
)

longTest(
  'a cluster whose primaries are killed under load goes on, and what it loses is counted',
  async () => {
    const cluster = await startCluster()
    onTestFinished(() => cluster.close())
    const group = await startGroup({ redisUrl: cluster.url, ...STORMY })
    const ledger = await storm({
      what: 'a primary of a cluster killed',
      group,
      fault: async (n) => {
        const primary = await cluster.primaryOf(`{key${n}}`)
        await primary.stop('SIGKILL')
        await sleep(FAILOVER_MS)
        // It comes back as the replica of the node that took its place.
        await primary.start()
        await sleep(6000)
      },
      minFaults: 3,
    })
    const { lost: _counted, ...others } = ledger.faults(group)
    expect(others).toEqual({ duplicated: 0, reordered: 0, hung: 0, foreign: 0 })
    ledger.checkLongestWait(FAILOVER_MS + AFTER_OUTAGE_MS)
    await endAll(group)
    await until(async () => (await cluster.scan()).length === 0, 600_000)
  },
  HOUR,
)

/** Replicas as processes behind a balancer or nginx without stickiness, with a real Redis. */

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { randomId } from '../../src/base/bytes.ts'
import { until } from '../support/until.ts'
import { type Balancer, startBalancer } from './balancer.ts'
import { startNginx } from './nginx.ts'

/** What is in front of the replicas: a balancer that chooses one at random for each request, or nginx, which takes them in turn. */
export type Front = 'random' | 'nginx'

export interface ReplicaProcess {
  readonly url: string
  readonly port: number
  readonly child: ChildProcess
  /** What it printed, except its address and accepted events. */
  readonly lines: string[]
  /** Sends it a command. */
  tell(line: string): void
  /** Takes it away from the balancer, and ends it. SIGTERM asks it to finish first. `isBalanced`: it gets requests until it has ended. */
  end(signal: NodeJS.Signals, options?: { isBalanced?: boolean }): Promise<void>
}

export interface ReplicaGroup {
  /** The balancer. */
  readonly url: string
  readonly balancer: Balancer
  readonly replicas: Set<ReplicaProcess>
  /** The highest number of each run of `count` whose event the store has accepted. */
  readonly accepted: Map<string, number>
  /** How often each run of `ask_restartable` has run its step. */
  readonly steps: Map<string, number>
  /** How many events the store has accepted. */
  acceptedCount: number
  /** @param isBalanced false: the balancer does not know it */
  start(isBalanced?: boolean): Promise<ReplicaProcess>
  close(): Promise<void>
}

export interface GroupOptions {
  /** Of Redis. */
  redisUrl: string
  /** Default: random */
  front?: Front
  count?: number
  leaseMs?: number
  /** Of commands to Redis. */
  timeoutMs?: number
  prefix?: string
  limits?: Record<string, unknown>
  graceMs?: number
  responses?: 'auto' | 'sse'
  /** A program in `fixtures` other than the usual one. */
  program?: string
  /** Options of its server. */
  server?: Record<string, unknown>
}

/** Short, so that tests which wait for its end are short. Long enough for a slow machine to renew it in time. */
export const LEASE_MS = 3000
/** For tests that wait for no end of a lease. */
export const LONG_LEASE_MS = 10_000

export async function startGroup(options: GroupOptions): Promise<ReplicaGroup> {
  const { redisUrl, count = 3, leaseMs = LEASE_MS, prefix = `${randomId()}:`, limits, graceMs, responses, server, timeoutMs } = options
  const program = fileURLToPath(new URL(`fixtures/${options.program ?? 'replica.mjs'}`, import.meta.url))
  const balancer = options.front === 'nginx' ? await startNginx() : await startBalancer()
  const group: ReplicaGroup = {
    url: balancer.url,
    balancer,
    replicas: new Set(),
    accepted: new Map(),
    steps: new Map(),
    acceptedCount: 0,
    start: async (isBalanced = true) => {
      const settings = JSON.stringify({ url: redisUrl, prefix, leaseMs, limits, graceMs, responses, server, timeoutMs })
      const child = spawn(process.execPath, [program, settings], { stdio: ['pipe', 'pipe', 'pipe'] })
      // A process that was killed cannot be told anything.
      child.stdin.on('error', () => {})
      const lines: string[] = []
      let url: string | undefined
      createInterface({ input: child.stdout }).on('line', (line) => {
        const [word, run = '', number] = line.split(' ')
        if (word === 'accepted') {
          group.accepted.set(run, Number(number))
          group.acceptedCount++
        } else if (word === 'stepped' && run !== '') group.steps.set(run, (group.steps.get(run) ?? 0) + 1)
        else if (word === 'listening') url = number
        else lines.push(line)
      })
      let isEnding = false
      let complaints = ''
      child.stderr.setEncoding('utf8').on('data', (text: string) => {
        complaints = (complaints + text).slice(-10_000)
      })
      const exited = once(child, 'exit')
      // What replicas complain about is expected while Redis is down. What they say before they crash is not.
      void exited.then(([code]) => !isEnding && console.error(`A replica ended by itself with ${code}:\n${complaints}`))
      await until(() => url !== undefined || child.exitCode !== null, 60_000)
      if (url === undefined) throw new Error(`A replica ended with ${child.exitCode} before it listened`)
      const port = Number(new URL(url).port)
      const replica: ReplicaProcess = {
        url,
        port,
        child,
        lines,
        tell: (line) => void child.stdin.write(`${line}\n`),
        end: async (signal, { isBalanced: staysBalanced = false } = {}) => {
          isEnding = true
          group.replicas.delete(replica)
          if (!staysBalanced) await balancer.remove(port)
          child.kill('SIGCONT')
          child.kill(signal)
          await exited
          await balancer.remove(port)
        },
      }
      group.replicas.add(replica)
      if (isBalanced) await balancer.add(port)
      return replica
    },
    close: async () => {
      await balancer.close()
      await Promise.all([...group.replicas].map((replica) => replica.end('SIGKILL')))
    },
  }
  const started = await Promise.allSettled(Array.from({ length: count }, () => group.start()))
  const failure = started.find((each) => each.status === 'rejected')
  if (failure) {
    // Nobody else could end what has started.
    await group.close()
    throw failure.reason
  }
  return group
}

/** Budgets of servers for sampling: requests per hour and tokens per day. */

import { isObject } from '../../base/json.ts'
import { counted } from '../../base/text/counted.ts'
import type { FileFormat } from '../../files/file-format.ts'
import { sharedJson } from '../../files/shared-json.ts'
import { McpError } from '../../protocol/errors.ts'

export interface BudgetLimits {
  /** Refused requests count too, because each may have been a question to the person. */
  requestsPerHour: number
  /** Tokens of prompts and answers. A day begins at midnight UTC. */
  tokensPerDay: number
}

export const DEFAULT_BUDGET_LIMITS: BudgetLimits = { requestsPerHour: 20, tokensPerDay: 100_000 }

/** The usage of one server. */
export interface Spent {
  /** Times of the requests in the last hour; wall clock in milliseconds. */
  requests: readonly number[]
  /** Days since 1970. */
  day: number
  /** Tokens on that day. */
  tokens: number
}

/** Stores the usage. Updates are atomic. */
export interface BudgetStore {
  read(server: string): Promise<Spent | undefined>
  update(server: string, change: (spent: Spent | undefined) => Spent): Promise<void>
}

export interface BudgetLeft {
  tokensLeft: number
  requestsLeft: number
}

export interface Reservation {
  /** Maximum tokens of the answer. */
  maxTokens: number
  /** The budget before the reservation. */
  left: BudgetLeft
  /** Replaces the reserved tokens with those actually used. */
  settle(tokens: number): Promise<void>
}

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

export class Budget {
  readonly #store: BudgetStore
  readonly #limitsOf: (server: string) => BudgetLimits
  readonly #now: () => number

  constructor(store: BudgetStore, limitsOf: (server: string) => BudgetLimits, now: () => number) {
    this.#store = store
    this.#limitsOf = limitsOf
    this.#now = now
  }

  async left(server: string): Promise<BudgetLeft> {
    return this.#left(server, current(await this.#store.read(server), this.#now()))
  }

  /** Reserves one request and its tokens in advance, so that concurrent requests cannot use the same budget. */
  async reserve(server: string, wanted: { promptTokens: number; maxTokens: number }): Promise<Reservation> {
    const now = this.#now()
    let left: BudgetLeft = { tokensLeft: 0, requestsLeft: 0 }
    let maxTokens = 0
    await this.#store.update(server, (before) => {
      const spent = current(before, now)
      left = this.#left(server, spent)
      if (left.requestsLeft < 1) throw this.#exceeded(server, 'requestsPerHour', Math.max(0, (spent.requests[0] ?? now) + HOUR_MS - now))
      maxTokens = Math.min(wanted.maxTokens, left.tokensLeft - wanted.promptTokens)
      if (maxTokens < 1) throw this.#exceeded(server, 'tokensPerDay', (spent.day + 1) * DAY_MS - now)
      return { ...spent, requests: [...spent.requests, now], tokens: spent.tokens + wanted.promptTokens + maxTokens }
    })
    const reserved = wanted.promptTokens + maxTokens
    const day = dayOf(now)
    return {
      maxTokens,
      left,
      settle: (tokens) =>
        this.#store.update(server, (before) => {
          const spent = current(before, this.#now())
          // A reservation of yesterday does not count for today.
          return spent.day === day
            ? { ...spent, tokens: Math.max(0, spent.tokens - reserved + tokens) }
            : { ...spent, tokens: spent.tokens + tokens }
        }),
    }
  }

  #left(server: string, { requests, tokens }: Spent): BudgetLeft {
    const { requestsPerHour, tokensPerDay } = this.#limitsOf(server)
    return { tokensLeft: Math.max(0, tokensPerDay - tokens), requestsLeft: Math.max(0, requestsPerHour - requests.length) }
  }

  #exceeded(server: string, limit: keyof BudgetLimits, retryAfterMs: number): McpError {
    const most = this.#limitsOf(server)[limit]
    const what = limit === 'requestsPerHour' ? `${counted(most, 'request')} per hour` : `${counted(most, 'token')} per day`
    return new McpError('ERR_BUDGET', `The server ${server} has used up its sampling budget: ${what} (${limit})`, {
      data: { limit, retryAfterMs },
    })
  }
}

const dayOf = (now: number): number => Math.floor(now / DAY_MS)

function current(spent: Spent | undefined, now: number): Spent {
  const day = dayOf(now)
  const requests = (spent?.requests ?? []).filter((at) => at > now - HOUR_MS)
  return { requests, day, tokens: spent?.day === day ? spent.tokens : 0 }
}

/** Keeps the usage in memory. */
export function memoryBudgetStore(): BudgetStore {
  const servers = new Map<string, Spent>()
  return {
    read: async (server) => servers.get(server),
    update: async (server, change) => {
      servers.set(server, change(servers.get(server)))
    },
  }
}

/** Files without a version are an object of servers. */
const BUDGETS_FORMAT: FileFormat = { version: 1, member: 'servers', upgrades: [(servers) => servers] }

/** Keeps the usage in a file that several processes share. */
export function fileBudgetStore(file: string): BudgetStore {
  const document = sharedJson<Readonly<Record<string, Spent>>>(file, { empty: {}, format: BUDGETS_FORMAT, check: checkDocument })
  return {
    read: async (server) => {
      const servers = await document.read()
      return Object.hasOwn(servers, server) ? servers[server] : undefined
    },
    update: async (server, change) => {
      await document.update((servers) => {
        const next = new Map(Object.entries(servers))
        const spent = change(next.get(server))
        // Entries older than a day no longer count.
        for (const [name, { day }] of next) if (day < spent.day - 1) next.delete(name)
        next.set(server, spent)
        return Object.fromEntries(next)
      })
    },
  }
}

function checkDocument(value: unknown): Record<string, Spent> {
  if (!isObject(value)) throw new TypeError('expected an object of servers')
  for (const [server, spent] of Object.entries(value)) {
    const isSpent = isObject(spent) && Array.isArray(spent.requests) && Number.isFinite(spent.day) && Number.isFinite(spent.tokens)
    if (!isSpent || !(spent.requests as unknown[]).every(Number.isFinite))
      throw new TypeError(`expected { requests, day, tokens } for ${server}`)
  }
  return value as Record<string, Spent>
}

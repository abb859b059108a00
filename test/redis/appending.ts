/** A producer as a server is one: it sends a batch again, with the same number, until it knows what became of it. */

import { setTimeout as sleep } from 'node:timers/promises'
import type { McpError } from '../../src/protocol/errors.ts'
import type { SharedStore, StreamEvent } from '../../src/store/index.ts'
import { counted } from '../support/proof.ts'

export const LIFE = { ttlMs: 120_000, maxAgeMs: 600_000 }
export const BOUNDS = { maxEvents: 100_000, maxBytes: 100_000_000, maxSessionBytes: 100_000_000, endedTtlMs: 60_000, maxEnded: 16 }

export interface Producer {
  /** Positions of the events that the store has accepted. */
  readonly accepted: string[]
  readonly resent: number
  stop(): Promise<void>
}

/** Appends numbers from 0 on, one after the other, to the standing stream. */
export function produce(store: SharedStore, sid: string, pauseMs = 0): Producer {
  const accepted: string[] = []
  let isStopped = false
  let resent = 0
  const run = async (): Promise<void> => {
    for (let n = 1; !isStopped; n++) {
      const batch = { n, events: [{ json: String(n - 1) }] }
      for (;;) {
        try {
          const appended = await store.streams.append(sid, '0', batch, BOUNDS)
          if (typeof appended === 'string') throw new Error(`expected a position, got ${appended}`)
          accepted.push(String(appended.positions[0]))
          break
        } catch (error) {
          if ((error as McpError).code !== 'ERR_STORE_DOWN') throw error
          resent++
          await sleep(20)
        }
      }
      if (pauseMs > 0) await sleep(pauseMs)
    }
  }
  const running = run()
  running.catch(() => {})
  return {
    accepted,
    get resent() {
      return resent
    },
    stop: async () => {
      isStopped = true
      await running
    },
  }
}

/** Reads a whole stream. */
export async function readAll(store: SharedStore, sid: string, stream = '0'): Promise<StreamEvent[]> {
  const events: StreamEvent[] = []
  const first = await store.streams.attach(sid, stream, '', 500)
  if (typeof first === 'string') throw new Error(`expected events, got ${first}`)
  events.push(...first.events)
  for (let page = first.events; page.length > 0; ) {
    const next = await store.streams.read(sid, stream, first.reader, events.at(-1)?.position ?? '', 500)
    if (typeof next === 'string') throw new Error(`expected events, got ${next}`)
    page = next.events
    events.push(...page)
  }
  return events
}

/** What became of accepted events. Also prints it, and writes it into the ledger of `npm run proof`. */
export function entered(what: string, { accepted, resent }: Producer, found: readonly StreamEvent[]) {
  const kept = new Set(found.map(({ position }) => position))
  const numbers = found.map(({ json }) => Number(json))
  const outcome = {
    lost: accepted.filter((position) => !kept.has(position)).length,
    duplicated: numbers.length - new Set(numbers).size,
    reordered: numbers.filter((number, at) => at > 0 && number < (numbers[at - 1] ?? 0)).length,
  }
  const all = { accepted: accepted.length, 'sent again': resent, ...outcome }
  console.log(
    `${what}: ${Object.entries(all)
      .map(([name, count]) => `${count} ${name}`)
      .join(', ')}`,
  )
  counted(Object.fromEntries(Object.entries(all).map(([name, count]) => [`${what}: events ${name}`, count])))
  return outcome
}

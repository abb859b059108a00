/** Remembers which dialect each server speaks, so that the next connection can skip the probe. */

import { BoundedMap } from '../base/bounded-map.ts'

/** The dialect that a server was found to speak. */
export type Verdict = 'session' | 'stateless'

/** A memory of dialects, by server. Its entries are only assumptions: a server may change. */
export interface VerdictMemory {
  get(server: string): Verdict | undefined
  /** @param verdict undefined to forget the server */
  set(server: string, verdict: Verdict | undefined): void
}

/** A program rarely connects to more servers; beyond that the oldest is probed again. */
const MAX_SERVERS = 1000

/**
 * A memory to share between connections. Default: one for the whole process.
 *
 * @example
 * const memory = verdictMemory()
 * const first = await connect(url, { memory })
 * const second = await connect(url, { memory }) // opens without a probe
 */
export function verdictMemory(): VerdictMemory {
  const verdicts = new BoundedMap<string, Verdict>(MAX_SERVERS)
  return {
    get: (server) => verdicts.get(server),
    set: (server, verdict) => void (verdict === undefined ? verdicts.delete(server) : verdicts.set(server, verdict)),
  }
}

/** The in-memory pair of every test: what passes between its two sides is judged by the published schema. */

import { afterEach, expect } from 'vitest'
import type { Client } from '../../src/client/index.ts'
import type { Service } from '../../src/server/index.ts'
import { type PairOptions, pair, type WireMessage } from '../../src/testing/index.ts'
import { Judge } from './published-schemas.ts'
import type { Message } from './raw-channel.ts'

export const REVISIONS = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28'] as const
export const SESSION_REVISIONS = REVISIONS.filter((revision) => revision < '2026')

export interface JudgedPair {
  client: Client
  wire: WireMessage[]
  /** The messages of one side, parsed. */
  sent(from: 'client' | 'server', method?: string): Message[]
  warnings: string[]
}

export interface JudgedOptions extends PairOptions {
  revision: string
  /** The test makes the client send what it should not; only the server is judged then. */
  clientIsWrong?: true
}

const open: { client: Client; judge: Judge }[] = []

/** Connects in one revision; the pair is closed and judged when the test ends. */
export async function connectPair(service: Service, { clientIsWrong, ...options }: JudgedOptions): Promise<JudgedPair> {
  const wire: WireMessage[] = []
  const warnings: string[] = []
  const judge = new Judge(options.revision)
  const { client } = await pair(service, {
    onWarning: (message) => warnings.push(message),
    ...options,
    onWire: (message) => {
      wire.push(message)
      if (message.from === 'server' || !clientIsWrong) judge.judge(message)
      else judge.follow(message)
      options.onWire?.(message)
    },
  })
  open.push({ client, judge })
  const sent = (from: 'client' | 'server', method?: string): Message[] =>
    wire
      .filter((each) => each.from === from)
      .map(({ json }) => JSON.parse(json))
      .filter((message) => method === undefined || message.method === method)
  return { client, wire, sent, warnings }
}

afterEach(async () => {
  const pairs = open.splice(0)
  for (const { client } of pairs) await client.close()
  for (const { judge } of pairs) expect(judge.faults.join('\n'), 'judged by the published schema').toBe('')
})

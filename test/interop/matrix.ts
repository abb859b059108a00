/** Which feature works with which peer, filled in by the tests that prove it. */

import { test } from 'vitest'

const PEERS = [
  'v1 client',
  'v1 client sse',
  'v2 client legacy',
  'v2 client sse',
  'v2 client modern',
  'inspector legacy',
  'inspector sse',
  'inspector auto',
  'inspector modern',
  'v1 server',
  'v1 server stateless',
  'v1 server sse',
  'v2 server',
  'v2 server stateless',
  'everything',
  'everything sse',
  'filesystem',
  'memory',
] as const
const FEATURES = [
  'tools',
  'structured',
  'content kinds',
  'resources',
  'subscribe',
  'prompts',
  'completion',
  'progress',
  'cancel',
  'logging',
  'elicit',
  'url',
  'sample',
  'roots',
  'list_changed',
] as const

export type PeerName = (typeof PEERS)[number]
export type Feature = (typeof FEATURES)[number]

interface Entry {
  claim: 'works' | 'lacks'
  hasPassed: boolean
}

export class Matrix {
  readonly #peers: readonly PeerName[]
  readonly #entries = new Map<string, Entry[]>()

  constructor(peers: readonly PeerName[]) {
    this.#peers = peers
  }

  /** A test that shows the feature working with the peer. */
  testWorks(peer: PeerName, feature: Feature, name: string, run: () => Promise<void>): void {
    this.#register(peer, feature, 'works', name, run)
  }

  /** A test that shows that the peer has no such thing, or that it does not work on its side. */
  testLacks(peer: PeerName, feature: Feature, name: string, run: () => Promise<void>): void {
    this.#register(peer, feature, 'lacks', name, run)
  }

  /** A cell without a test, or with one that did not pass or did not run, has failed. */
  cell(peer: PeerName, feature: Feature): 'ok' | 'n/a' | 'FAIL' {
    const entries = this.#entries.get(`${peer}/${feature}`) ?? []
    if (entries.length === 0 || entries.some(({ hasPassed }) => !hasPassed)) return 'FAIL'
    return entries.some(({ claim }) => claim === 'works') ? 'ok' : 'n/a'
  }

  get failures(): string[] {
    return this.#peers.flatMap((peer) =>
      FEATURES.filter((feature) => this.cell(peer, feature) === 'FAIL').map((feature) => `${peer}: ${feature}`),
    )
  }

  toString(): string {
    const rows = [['', ...FEATURES], ...this.#peers.map((peer) => [peer, ...FEATURES.map((feature) => this.cell(peer, feature))])]
    const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)))
    return rows
      .map((row) =>
        row
          .map((text, column) => text.padEnd(widths[column]!))
          .join('  ')
          .trimEnd(),
      )
      .join('\n')
  }

  #register(peer: PeerName, feature: Feature, claim: Entry['claim'], name: string, run: () => Promise<void>): void {
    const entry: Entry = { claim, hasPassed: false }
    const key = `${peer}/${feature}`
    this.#entries.set(key, [...(this.#entries.get(key) ?? []), entry])
    test(name, async () => {
      await run()
      entry.hasPassed = true
    })
  }
}

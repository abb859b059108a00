/** The servers of `portico` without a command: samples, the rogue on request, and the configured ones. */

import type { Host, ServerSpec } from '../../host/index.ts'
import type { Invocation } from '../command-runner.ts'
import { configuredServers } from '../connections/open-host.ts'
import { type RogueSample, startRogue } from '../demo/embedded.ts'

/** The shell and the console share it, so that there is one rogue. */
export class SampleServers {
  readonly #invocation: Invocation
  readonly #host: Host
  readonly #samples: readonly ServerSpec[]
  #rogue: Promise<RogueSample> | undefined

  constructor(invocation: Invocation, host: Host) {
    this.#invocation = invocation
    this.#host = host
    this.#samples = host.specs().filter(isSample)
  }

  get samples(): readonly string[] {
    return this.#samples.map(({ id }) => id)
  }

  get configured(): readonly string[] {
    return this.#host.specs().flatMap((spec) => (isSample(spec) ? [] : [spec.id]))
  }

  /** Reads the configured servers again. A configured server replaces a sample of the same name. */
  async reload(): Promise<void> {
    const configured = await configuredServers(this.#invocation)
    const samples = [...this.#samples, ...(this.#rogue ? [(await this.#rogue).spec] : [])]
    await this.#host.configure([...samples.filter(({ id }) => !configured.some((each) => each.id === id)), ...configured])
  }

  /** Adds the server that turns bad. Resolves with its name. */
  async addRogue(): Promise<string> {
    this.#rogue ??= startRogue()
    const { spec } = await this.#rogue
    await this.reload()
    return spec.id
  }

  /** A rogue that has not changed its tools yet, in place of an earlier one. */
  async addFreshRogue(): Promise<string> {
    const earlier = this.#rogue
    this.#rogue = undefined
    await (await earlier)?.close()
    return this.addRogue()
  }

  /** How many pieces of data the rogue has received. Undefined: it was not added. */
  async receivedByRogue(): Promise<number | undefined> {
    return (await this.#rogue)?.rogue.received.length
  }

  async close(): Promise<void> {
    await (await this.#rogue)?.close()
  }
}

/** Samples come from no file. */
const isSample = ({ provenance }: ServerSpec): boolean => provenance.some(({ client, file }) => client === 'Portico' && file === '')

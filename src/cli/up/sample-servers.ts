/** The servers of `portico` without a command: samples, the rogue on request, and the configured ones. */

import type { ConsoleTour } from '../../console/index.ts'
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
  #started: RogueSample | undefined

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
    this.#started = await this.#rogue
    await this.reload()
    return this.#started.spec.id
  }

  /** For the tour of the page. */
  readonly tour: ConsoleTour = {
    rogue: () => {
      const { spec, rogue } = this.#started ?? {}
      return spec && rogue && { server: spec.id, hasTurned: rogue.hasTurned, received: rogue.received.length }
    },
    addRogue: async () => {
      await this.#endRogue()
      await this.addRogue()
    },
    turnRogue: () => this.#started?.rogue.turn(),
    removeRogue: async () => {
      await this.#endRogue()
      await this.reload()
    },
  }

  close(): Promise<void> {
    return this.#endRogue()
  }

  async #endRogue(): Promise<void> {
    const rogue = this.#rogue
    this.#rogue = this.#started = undefined
    await (await rogue)?.close()
  }
}

/** Samples come from no file. */
const isSample = ({ provenance }: ServerSpec): boolean => provenance.some(({ client, file }) => client === 'Portico' && file === '')

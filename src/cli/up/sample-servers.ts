/** The servers of `portico` without a command: samples, the rogue on request, and the configured ones. */

import type { TourServer } from '../../console/index.ts'
import { followServerFile, type Host, type ServerSpec } from '../../host/index.ts'
import type { Invocation } from '../command-runner.ts'
import { configuredServers } from '../connections/open-host.ts'
import { type RogueSample, startRogue } from '../demo/embedded.ts'
import { safe } from '../output/safe-text.ts'

/** The shell and the console share it, so that there is one rogue. */
export class SampleServers {
  readonly #invocation: Invocation
  readonly #host: Host
  readonly #samples: readonly ServerSpec[]
  #rogue: Promise<RogueSample> | undefined
  #followed: Awaited<ReturnType<typeof followServerFile>> | undefined

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

  /** Applies what other processes change in the list of servers from now on. A sample comes back when the server of its name is removed. */
  async follow(): Promise<void> {
    const { screen } = this.#invocation
    this.#followed = await followServerFile(this.#host, {
      others: () => this.#samples,
      onWarning: (text) => screen.note(safe`${screen.noteStyle.yellow('!')} ${text}`),
    })
  }

  /** Applies such changes now. */
  async refresh(): Promise<void> {
    await this.#followed?.refresh()
  }

  /** Reads the configured servers again. A configured server replaces a sample of the same name. */
  async reload(): Promise<void> {
    const configured = await configuredServers(this.#invocation)
    const samples = [...this.#samples, ...(this.#rogue ? [(await this.#rogue).spec] : [])]
    await this.#host.configure([...samples.filter(({ id }) => !configured.some((each) => each.id === id)), ...configured])
  }

  /** Adds the server that turns bad. Resolves with its name. */
  async addRogue(): Promise<string> {
    const { spec } = await this.#startRogue()
    await this.reload()
    return spec.id
  }

  /** For the tour of the page, which adds it to the host and ends it. */
  async startTourRogue(): Promise<TourServer> {
    const started = await this.#startRogue()
    const { spec, rogue } = started
    return {
      spec,
      get hasTurned() {
        return rogue.hasTurned
      },
      get received() {
        return rogue.received.length
      },
      turn: () => rogue.turn(),
      close: () => this.#endRogue(),
    }
  }

  close(): Promise<void> {
    this.#followed?.close()
    return this.#endRogue()
  }

  async #startRogue(): Promise<RogueSample> {
    const isNew = this.#rogue === undefined
    this.#rogue ??= startRogue()
    const started = await this.#rogue
    if (isNew && started.isElsewhere)
      this.#invocation.screen.note(safe`The port of rogue is in use, so it has a new address, and you are asked about it again.`)
    return started
  }

  async #endRogue(): Promise<void> {
    const rogue = this.#rogue
    this.#rogue = undefined
    const started = await rogue
    // The demonstration is over: a yes to it must not stay in the list of grants.
    if (started && this.#host.specs().some((spec) => spec.id === started.spec.id && isSample(spec)))
      await this.#host.grants.revoke({ server: started.spec.id })
    await started?.close()
  }
}

/** Samples come from no file. */
const isSample = ({ provenance }: ServerSpec): boolean => provenance.some(({ client, file }) => client === 'Portico' && file === '')

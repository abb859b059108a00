/** The simulated environments, in memory. A deployment is a series of timed steps and can be cancelled between two of them. */

import { setTimeout as sleep } from 'node:timers/promises'
import { type Context, type ResourceHandle, type Server, ToolError } from '../../server/index.ts'

export const ENVIRONMENTS = ['development', 'staging', 'production'] as const
export type Environment = (typeof ENVIRONMENTS)[number]
export const SERVICES = ['api', 'web', 'worker'] as const

export interface Deployment {
  service: string
  version: string
  environment: Environment
}

interface DeployResult {
  service: string
  environment: string
  from: string
  to: string
  steps: number
}

interface PastDeployment extends Deployment {
  at: string
  outcome: 'deployed' | 'rolled back' | 'stopped' | 'failed'
  reason?: string
  /** The step at which it was stopped. */
  step?: string
}

const MAX_PAST = 100
const MAX_VERSIONS = 20
const FIRST_VERSION = '1.0.0'

export class Fleet {
  readonly #server: Server
  readonly #stepMs: number
  /** The versions of each service in each environment. The last one is the running version. */
  readonly #versions = new Map<string, string[]>()
  readonly #running = new Map<string, Deployment & { step: string; done: number; of: number }>()
  readonly #past: PastDeployment[] = []
  readonly #status: ResourceHandle
  #effects = 0

  constructor(server: Server, stepMs: number) {
    this.#server = server
    this.#stepMs = stepMs
    this.#status = server.resource(
      'deploy://status',
      {
        name: 'status',
        title: 'Status',
        description: 'Running versions, deployments in progress, and past deployments',
        mimeType: 'application/json',
      },
      () => this.#describe(),
    )
    server.resource(
      'deploy://environments/{environment}',
      { name: 'environment', title: 'Environment', mimeType: 'application/json', complete: { environment: () => ENVIRONMENTS } },
      ({ environment }) => {
        const known = ENVIRONMENTS.find((each) => each === environment)
        return known && this.#inEnvironment(known)
      },
    )
  }

  get effects(): number {
    return this.#effects
  }

  versionOf(environment: Environment, service: string): string {
    return this.#versions.get(key(environment, service))?.at(-1) ?? FIRST_VERSION
  }

  /** The version before the running one, or null. */
  previousVersion(environment: Environment, service: string): string | null {
    const versions = this.#versions.get(key(environment, service))
    return versions ? (versions.at(-2) ?? FIRST_VERSION) : null
  }

  plan(service: string, version: string): string[] {
    return [
      `fetch ${service} ${version}`,
      'check its signature',
      'start it next to the old version',
      'move 10% of the traffic',
      'move all traffic',
      'stop the old version',
    ]
  }

  async deploy(deployment: Deployment & { reason: string }, ctx: Context): Promise<DeployResult> {
    const { service, version, environment } = deployment
    const from = this.versionOf(environment, service)
    const steps = this.plan(service, version)
    await this.#run(deployment, steps, ctx)
    const at = key(environment, service)
    this.#versions.set(at, [...(this.#versions.get(at) ?? []), version].slice(-MAX_VERSIONS))
    this.#finish({ ...deployment, outcome: 'deployed' })
    return { service, environment, from, to: version, steps: steps.length }
  }

  async rollback(deployment: Deployment, ctx: Context): Promise<DeployResult> {
    const { service, environment, version } = deployment
    const from = this.versionOf(environment, service)
    const steps = [`restart ${service} ${version}`, 'move all traffic', `stop ${service} ${from}`]
    await this.#run(deployment, steps, ctx)
    this.#versions.get(key(environment, service))?.pop()
    this.#finish({ ...deployment, outcome: 'rolled back' })
    return { service, environment, from, to: version, steps: steps.length }
  }

  async #run(deployment: Deployment, steps: readonly string[], ctx: Context): Promise<void> {
    const { service, environment } = deployment
    const at = key(environment, service)
    const other = this.#running.get(at)
    if (other)
      throw new ToolError(
        `${service} ${other.version} is being deployed to ${environment} (${other.step}); wait for it to finish, or cancel it`,
      )
    try {
      for (const [done, step] of steps.entries()) {
        this.#running.set(at, { ...deployment, step, done, of: steps.length })
        this.#changed(environment)
        // The questions to the person count as the first step.
        await ctx.progress(done + 1, steps.length + 1, step)
        ctx.log.info({ service, environment, step })
        await this.#step(ctx.signal)
      }
      await ctx.progress(steps.length + 1, steps.length + 1, 'done')
    } catch (error) {
      const { step, done } = this.#running.get(at) ?? { step: '', done: 0 }
      const where = `step ${done + 1} of ${steps.length}: ${step}`
      this.#finish({ ...deployment, outcome: ctx.signal.aborted ? 'stopped' : 'failed', step: where })
      // Sent by the server itself, because a cancelled request must not send anything.
      this.#server.log.warning({ message: `Stopped at ${where}`, service, environment })
      throw error
    } finally {
      this.#running.delete(at)
      this.#changed(environment)
    }
  }

  /** Stands for the work of a real deployment. */
  async #step(signal: AbortSignal): Promise<void> {
    await sleep(this.#stepMs, undefined, { signal })
    this.#effects++
  }

  #finish(past: Omit<PastDeployment, 'at'>): void {
    this.#past.unshift({ at: new Date().toISOString(), ...past })
    this.#past.length = Math.min(this.#past.length, MAX_PAST)
    this.#changed(past.environment)
  }

  #changed(environment: Environment): void {
    this.#status.changed()
    this.#server.resourceChanged(`deploy://environments/${environment}`)
  }

  #describe(): Record<string, unknown> {
    return {
      environments: Object.fromEntries(ENVIRONMENTS.map((each) => [each, this.#inEnvironment(each)])),
      running: [...this.#running.values()],
      past: this.#past,
    }
  }

  #inEnvironment(environment: Environment): Record<string, string> {
    return Object.fromEntries(SERVICES.map((service) => [service, this.versionOf(environment, service)]))
  }
}

const key = (environment: Environment, service: string): string => `${environment}/${service}`

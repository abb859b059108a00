/** What all channels of one server share: its definition, its features, its bounds. Immutable but for the registries. */

import { type Clock, systemClock } from '../base/clock.ts'
import { Deadlines } from '../jsonrpc/deadlines.ts'
import type { Params } from '../jsonrpc/message.ts'
import { McpError } from '../protocol/errors.ts'
import type { Implementation } from '../protocol/model/base.ts'
import { checkExtensions } from '../protocol/model/extensions.ts'
import type { ServerCapabilities, Settings } from '../protocol/model/lifecycle.ts'
import { memoryBus, memoryKeyRing } from '../protocol/seams/memory.ts'
import type { Bus, Change, KeyRing } from '../protocol/seams/ports.ts'
import { withDefaults } from '../protocol/with-defaults.ts'
import { revisionOf, selectRevisions } from '../revisions/index.ts'
import type { Revision } from '../revisions/revision.ts'
import { Audience } from './audience.ts'
import type { Call } from './call.ts'
import { checkCache, checkWritable } from './definition.ts'
import { Elicitations } from './elicitations.ts'
import { Completions } from './features/completion.ts'
import { Logging, type LoggingOptions } from './features/logging.ts'
import { Prompts } from './features/prompts.ts'
import { Resources } from './features/resources.ts'
import { Tools } from './features/tools.ts'
import { DEFAULT_LIMITS, type ServerLimits } from './limits.ts'
import type { ListingOptions } from './listing.ts'
import { type Middleware, type RunCall, withMiddleware } from './middleware.ts'
import { Quotas } from './quotas.ts'
import { Serialiser } from './serialise.ts'

/** What went wrong in a handler, with the reference that the client was given instead of the text. */
export interface Failure {
  reference: string
  method: string
  target: string | undefined
}

export interface ServerOptions extends Implementation {
  /** How to use the server, for the model. */
  instructions?: string
  /** Protocol revisions to speak; all unless given. */
  revisions?: readonly string[]
  /** How many items a page of a list has. */
  pageSize?: number
  /** How long clients may keep lists and discovery. */
  listCache?: { ttlMs?: number; cacheScope?: 'public' | 'private' }
  /**
   * Lets names of tools contain `/`. The specification advises against it, and some clients refuse such tools. Default: false.
   */
  slashesInToolNames?: boolean
  limits?: Partial<ServerLimits>
  /**
   * False takes the logging capability away.
   * @deprecated by the newest revision, and may be removed from the protocol in a revision of 2027-07-28 or later. Use standard error or OpenTelemetry.
   */
  logging?: LoggingOptions | false
  /** Seals what clients carry for us. Replicas of one server must share it. */
  keys?: KeyRing
  /** Carries changes between replicas of one server. */
  bus?: Bus
  experimental?: Record<string, Settings>
  extensions?: Record<string, Settings>
  /** Hears of failures whose text is kept from clients; writes to stderr unless given. */
  onError?(error: unknown, failure: Failure): void
  clock?: Clock
}

export class Core {
  readonly info: Implementation
  readonly instructions: string | undefined
  readonly supported: readonly Revision[]
  readonly slashesInToolNames: boolean
  readonly limits: ServerLimits
  readonly keys: KeyRing
  readonly bus: Bus
  readonly audience: Audience
  readonly quotas: Quotas
  readonly deadlines: Deadlines
  readonly listOptions: Pick<ListingOptions<unknown>, 'pageSize' | 'keys' | 'cache'>
  readonly serialiser: Serialiser
  readonly tools: Tools
  readonly resources: Resources
  readonly prompts: Prompts
  readonly completions: Completions
  readonly logging: Logging
  readonly elicitations = new Elicitations()
  readonly #options: ServerOptions
  readonly #middleware: Middleware[] = []
  readonly #announced = new Set<'tools' | 'prompts' | 'resources'>()
  #discovery: Params | undefined
  #quietDiscovery: Params | undefined
  readonly #runMethod: RunCall
  #run: RunCall

  constructor(options: ServerOptions, run: (call: Call, core: Core) => Params | Promise<Params>) {
    const { name, version, title, description, websiteUrl, icons } = options
    if (typeof name !== 'string' || name === '' || typeof version !== 'string' || version === '') {
      throw new McpError('ERR_DEFINITION', 'A server needs a name and a version: createServer({ name, version })')
    }
    checkExtensions(options.extensions)
    checkWritable('The server', [options.extensions ?? {}, options.experimental ?? {}, description, websiteUrl, icons ?? []])
    checkCache('listCache', options.listCache)
    this.#options = options
    this.info = defined({ name, version, title, description, websiteUrl, icons })
    this.instructions = options.instructions
    this.supported = selectRevisions(options.revisions)
    this.slashesInToolNames = options.slashesInToolNames === true
    this.limits = withDefaults(DEFAULT_LIMITS, options.limits)
    this.keys = options.keys ?? memoryKeyRing()
    this.bus = options.bus ?? memoryBus()
    this.audience = new Audience(this.bus)
    this.quotas = new Quotas(this)
    this.deadlines = new Deadlines(options.clock ?? systemClock)
    const { ttlMs = 60_000, cacheScope = 'private' } = options.listCache ?? {}
    this.listOptions = { pageSize: options.pageSize ?? 1000, keys: this.keys, cache: { ttlMs, cacheScope } }
    this.serialiser = new Serialiser(this.info)
    this.tools = new Tools(this)
    this.resources = new Resources(this)
    this.prompts = new Prompts(this)
    this.completions = new Completions(this)
    this.logging = new Logging(options.logging ?? {}, this.limits, name)
    this.#runMethod = (call) => run(call, this)
    this.#run = this.#runMethod
  }

  /** One of the revisions spoken. */
  revision(version: string): Revision {
    const revision = revisionOf(version)
    if (!revision || !this.supported.includes(revision))
      throw new McpError('ERR_VERSION_UNSUPPORTED', `This server does not speak ${version}`)
    return revision
  }

  now(): number {
    return this.deadlines.now()
  }

  /** Answers one call, through whatever middleware there is. */
  run(call: Call): Params | Promise<Params> {
    return this.#run(call)
  }

  use(middleware: Middleware): void {
    this.#middleware.push(middleware)
    this.#run = withMiddleware(this.#runMethod, this.#middleware)
  }

  /** @param canTell whether changes can be told here; what cannot be told is not promised */
  capabilities(canTell = true): ServerCapabilities {
    const { experimental, extensions } = this.#options
    const listChanged = canTell ? { listChanged: true } : {}
    return defined({
      experimental,
      extensions,
      logging: this.logging.isOffered ? {} : undefined,
      completions: this.completions.isOffered ? {} : undefined,
      prompts: this.prompts.isOffered ? listChanged : undefined,
      resources: this.resources.isOffered ? { ...(canTell ? { subscribe: true } : {}), ...listChanged } : undefined,
      tools: this.tools.isOffered ? listChanged : undefined,
    })
  }

  /** The answer to `server/discover`; one object until something changes, and one more where changes cannot be told. */
  discovery(canTell = true): Params {
    if (canTell) this.#discovery ??= this.#discover(true)
    else this.#quietDiscovery ??= this.#discover(false)
    return (canTell ? this.#discovery : this.#quietDiscovery) as Params
  }

  #discover(canTell: boolean): Params {
    return defined({
      supportedVersions: this.supported.map(({ version }) => version).reverse(),
      capabilities: this.capabilities(canTell),
      instructions: this.instructions,
      ...this.listOptions.cache,
    })
  }

  /** Tells every replica's listeners of a change; changes of one list within one turn are one. */
  announce(change: Change): void {
    if (change.kind === 'resource') return this.bus.publish(change)
    this.#discovery = undefined
    this.#quietDiscovery = undefined
    if (this.#announced.size === 0) queueMicrotask(() => this.#publishAnnounced())
    this.#announced.add(change.kind)
  }

  /** Tells the author, not the client, what went wrong. */
  report(error: unknown, failure: Failure): void {
    const { onError } = this.#options
    if (onError) return onError(error, failure)
    console.error(
      `portico: ${failure.method}${failure.target === undefined ? '' : ` ${failure.target}`} failed (reference ${failure.reference}):`,
      error,
    )
  }

  #publishAnnounced(): void {
    const kinds = [...this.#announced]
    this.#announced.clear()
    for (const kind of kinds) this.bus.publish({ kind })
  }
}

/** Without members that are undefined, so that what is compared and sent has no holes. */
function defined<T extends object>(object: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]: Exclude<T[K], undefined>
  }
}

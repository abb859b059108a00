/** The state that all channels of one server share: its definition, its features and its limits. */

import { callSafely } from '../base/call-observer.ts'
import { systemClock } from '../base/clock.ts'
import { Deadlines } from '../base/deadlines.ts'
import { notices } from '../base/notices.ts'
import { Bucket } from '../base/rate.ts'
import { reportError } from '../base/report-error.ts'
import { visibleText } from '../base/text/visible-text.ts'
import type { Params } from '../jsonrpc/message.ts'
import { checkMembers } from '../protocol/check-members.ts'
import { McpError } from '../protocol/errors.ts'
import { memoryBus, memoryKeyRing } from '../protocol/interfaces/in-process-services.ts'
import type { Bus, Change, KeyRing, SharedServices } from '../protocol/interfaces/replaceable-services.ts'
import type { Announcement } from '../protocol/interfaces/service.ts'
import type { AroundRequest } from '../protocol/interfaces/telemetry.ts'
import { METHODS } from '../protocol/methods.ts'
import type { Implementation } from '../protocol/model/base.ts'
import { checkExtensions } from '../protocol/model/extensions.ts'
import type { ServerCapabilities } from '../protocol/model/lifecycle.ts'
import { withDefaults } from '../protocol/with-defaults.ts'
import { revisionOf, selectRevisions } from '../revisions/index.ts'
import type { Revision } from '../revisions/revision.ts'
import type { Addition } from './addition.ts'
import type { AppHook } from './apps/hook.ts'
import { ChangeListeners } from './change-listeners.ts'
import { checkCache, checkWritable } from './definition.ts'
import type { FeatureEnvironment } from './feature-environment.ts'
import { Completions } from './features/completion.ts'
import { Prompts } from './features/prompts.ts'
import { Resources } from './features/resources.ts'
import { Tools } from './features/tools.ts'
import type { IncomingCall } from './incoming-call.ts'
import { OpenPages } from './input/open-pages.ts'
import { DEFAULT_LIMITS, type ServerLimits } from './limits.ts'
import type { ListingOptions } from './listing.ts'
import { Logging } from './logging.ts'
import { type Middleware, targetOf } from './middleware.ts'
import { type Failure, SERVER_MEMBERS, type ServerOptions } from './options.ts'
import { Quotas } from './quota.ts'
import { Serialiser } from './serialise.ts'
import { SubscriptionCounts } from './subscription-counts.ts'
import type { TaskHook } from './tasks/hook.ts'

/** How often a state that could not be opened is reported. */
const UNOPENED_REPORTS = { perSecond: 0.1, burst: 10 }
/** Of a URI in the log, so that there is room for the reference behind it. */
const MAX_TARGET_CHARS = 1024

export class ServerState implements FeatureEnvironment {
  readonly info: Implementation
  readonly instructions: string | undefined
  readonly supported: readonly Revision[]
  readonly slashesInToolNames: boolean
  limits: ServerLimits
  readonly keys: KeyRing
  /** Undefined if all replicas have the keys: the author has given them, or a setting has. */
  useKeys: ((keys: KeyRing, areShared?: boolean) => void) | undefined
  readonly bus: Bus
  readonly changeListeners: ChangeListeners
  readonly quotas: Quotas
  readonly subscriptionCounts: SubscriptionCounts
  readonly deadlines: Deadlines
  readonly listOptions: Pick<ListingOptions<unknown>, 'pageSize' | 'keys' | 'cache'>
  readonly serialiser: Serialiser
  readonly tools: Tools
  readonly resources: Resources
  readonly prompts: Prompts
  readonly completions: Completions
  readonly logging: Logging
  readonly openPages = new OpenPages()
  /** Called with everything that this process tells clients outside of their requests. */
  readonly announcements = new Set<(announcement: Announcement) => void>()
  /** What extensions add, in the order of `server.extend`. */
  readonly additions: Addition[] = []
  /** Set if replicas share a store. */
  shared: SharedServices | undefined
  /** Set by the extension for tasks. */
  tasks: TaskHook | undefined
  /** Set by the extension for apps. */
  apps: AppHook | undefined
  /** What is being loaded. Requests wait for it, so that the first one sees it. */
  loading: Promise<unknown> | undefined
  /** Outermost first. */
  middleware: readonly Middleware[] = []
  /** Around every question that is a request to the client. */
  aroundQuestion: AroundRequest | undefined
  /** The servers that mount this one. */
  readonly outer: ServerState[] = []
  readonly #inner: ServerState[] = []
  readonly #options: ServerOptions
  readonly #announced = new Set<'tools' | 'prompts' | 'resources'>()
  #discovery: Params | undefined
  #quietDiscovery: Params | undefined
  /** The number of middleware functions of mounted servers. */
  #mounted = 0
  #isStarted = false
  #unopened: Bucket | undefined
  #unreported = 0

  constructor(options: ServerOptions) {
    const { name, version, title, description, websiteUrl, icons } = options ?? {}
    if (typeof name !== 'string' || name === '' || typeof version !== 'string' || version === '') {
      throw new McpError('ERR_DEFINITION', 'A server needs a name and a version: createServer({ name, version })')
    }
    checkMembers('createServer', options, SERVER_MEMBERS)
    checkMembers('listCache', options.listCache, { ttlMs: 1, cacheScope: 1 })
    checkMembers('logging', options.logging || {}, { defaultLevel: 1, logger: 1, redact: 1 })
    checkExtensions(options.extensions)
    checkWritable('The server', [options.extensions ?? {}, options.experimental ?? {}, description, websiteUrl, icons ?? []])
    checkCache('listCache', options.listCache)
    this.#options = options
    this.info = defined({ name, version, title, description, websiteUrl, icons })
    this.instructions = options.instructions
    this.supported = selectRevisions(options.revisions)
    this.slashesInToolNames = options.slashesInToolNames === true
    this.limits = withDefaults(DEFAULT_LIMITS, options.limits)
    const ownKeys = memoryKeyRing()
    this.keys = options.keys ?? ownKeys
    this.bus = options.bus ?? memoryBus()
    if (options.keys) this.bus.useKeys?.(options.keys)
    else
      this.useKeys = (keys, areShared) => {
        ownKeys.replace(keys)
        if (!areShared) return
        this.useKeys = undefined
        this.bus.useKeys?.(keys)
      }
    this.changeListeners = new ChangeListeners(this.bus)
    this.quotas = new Quotas(this)
    this.subscriptionCounts = new SubscriptionCounts(this)
    this.deadlines = new Deadlines(options.clock ?? systemClock)
    const { ttlMs = 60_000, cacheScope = 'private' } = options.listCache ?? {}
    this.listOptions = { pageSize: options.pageSize ?? 1000, keys: this.keys, cache: { ttlMs, cacheScope } }
    this.serialiser = new Serialiser(this.info)
    this.tools = new Tools(this)
    this.resources = new Resources(this)
    this.prompts = new Prompts(this)
    this.completions = new Completions(this, this.prompts, this.resources)
    this.logging = new Logging(options.logging ?? {}, name)
  }

  /** Throws when this server does not speak the revision. */
  revision(version: string): Revision {
    const revision = revisionOf(version)
    if (!revision || !this.supported.includes(revision))
      throw new McpError('ERR_VERSION_UNSUPPORTED', `This server does not speak ${version}`)
    return revision
  }

  now(): number {
    return this.deadlines.now()
  }

  /**
   * @param canTell whether change notices can be sent on this transport; if not, they are not declared
   * @param revision of the session; undefined for stateless requests
   * @param isIdentified whether the caller can be told from other callers
   */
  capabilities(canTell = true, revision?: Revision, isIdentified = false): ServerCapabilities {
    const { experimental } = this.#options
    const extensions = { ...this.#options.extensions, ...Object.fromEntries(this.additions.map(({ id, settings }) => [id, settings])) }
    const listChanged = canTell ? { listChanged: true } : {}
    return defined({
      experimental,
      extensions: Object.keys(extensions).length > 0 ? extensions : undefined,
      logging: this.logging.isOffered ? {} : undefined,
      completions: this.completions.isOffered ? {} : undefined,
      prompts: this.prompts.isOffered ? listChanged : undefined,
      resources: this.resources.isOffered ? { ...(canTell ? { subscribe: true } : {}), ...listChanged } : undefined,
      tools: this.tools.isOffered ? listChanged : undefined,
      ...Object.assign({}, ...this.additions.map((each) => revision && each.capabilities?.(revision, isIdentified))),
    })
  }

  /** The result of `server/discover`: the same object until something changes, so that its text can be kept. */
  discovery(canTell = true): Params {
    if (canTell) this.#discovery ??= this.#discover(true)
    else this.#quietDiscovery ??= this.#discover(false)
    return (canTell ? this.#discovery : this.#quietDiscovery) as Params
  }

  /** Adds middleware inside of that which is there. That of mounted servers stays the innermost. */
  use(middleware: Middleware, isMounted = false): void {
    const own = this.middleware.length - this.#mounted
    this.middleware = isMounted ? [...this.middleware, middleware] : this.middleware.toSpliced(own, 0, middleware)
    if (isMounted) this.#mounted++
    this.aroundQuestion ??= middleware.question
  }

  /** Whether the protocol or an extension has the method, and this server the tool or prompt that the request names. */
  knows({ method, params: { name } }: Pick<IncomingCall, 'method' | 'params'>): boolean {
    if (!METHODS.has(method)) return this.additions.some((each) => each.has(method))
    if (method === 'tools/call') return typeof name === 'string' && this.tools.has(name)
    return method !== 'prompts/get' || (typeof name === 'string' && this.prompts.has(name))
  }

  /** Pages that a handler opened belong to the server that the client is connected to. */
  completePage(elicitationId: string): boolean {
    if (this.openPages.complete(elicitationId) || this.outer.some((each) => each.completePage(elicitationId))) return true
    this.tellTransports({ kind: 'page', elicitationId })
    // Another replica may have opened the page. The servers that mount this one listen as well, but not for that.
    return this.announcements.size > this.outer.length
  }

  /** Called before the first message of a client. */
  start(): void {
    this.#isStarted = true
    for (const addition of this.additions) addition.start?.()
    for (const inner of this.#inner) inner.#startMounted()
  }

  /** Starts what adds tools, prompts or resources: these are offered by the servers that mount this one. */
  #startMounted(): void {
    for (const addition of this.additions) if (addition.isMounted) addition.start?.()
    for (const inner of this.#inner) inner.#startMounted()
  }

  get #isServed(): boolean {
    return this.#isStarted || this.outer.some((each) => each.#isServed)
  }

  /** Requests to this server wait for what the mounted one loads, for example a folder of skills. */
  contain(inner: ServerState): void {
    inner.outer.push(this)
    this.#inner.push(inner)
    if (inner.loading) this.#await(inner.loading)
    if (this.#isServed) inner.#startMounted()
  }

  add(addition: Addition): void {
    const { id } = addition
    if (this.capabilities().extensions?.[id]) throw new McpError('ERR_DEFINITION', `The extension ${id} is already declared`)
    this.additions.push(addition)
    this.tasks ??= addition.tasks
    this.apps ??= addition.apps
    this.#forgetDiscovery()
    if (this.#isStarted || (addition.isMounted && this.#isServed)) addition.start?.()
  }

  /** Lets requests wait until the work is over, also if it fails. */
  async load(work: Promise<void>): Promise<void> {
    // A failure that the author does not handle ends the process before any request is answered without what is missing.
    this.#await(work.catch(() => new Promise((resolve) => setTimeout(resolve))))
    // Not the promise itself: with the handler above its failure counts as handled.
    await work
  }

  #await(over: Promise<unknown>): void {
    const loading = Promise.all([this.loading, over]).then(() => {
      if (this.loading === loading) this.loading = undefined
    })
    this.loading = loading
    for (const each of this.outer) each.#await(over)
  }

  #forgetDiscovery(): void {
    this.#discovery = undefined
    this.#quietDiscovery = undefined
  }

  #discover(canTell: boolean): Params {
    return defined({
      supportedVersions: this.supported.map(({ version }) => version).reverse(),
      capabilities: this.capabilities(canTell),
      instructions: this.instructions,
      ...this.listOptions.cache,
    })
  }

  /** Tells the listeners of every replica. Several changes of one list in the same turn become one notice. */
  announce(change: Change): void {
    if (change.kind === 'resource' || change.kind === 'extension') return this.#publish(change)
    this.#forgetDiscovery()
    if (this.#announced.size === 0) queueMicrotask(() => this.#publishAnnounced())
    this.#announced.add(change.kind)
  }

  /** Reports an error to the author of the server, not to the client. */
  report(error: unknown, failure: Failure): void {
    const { onError } = this.#options
    const { method, target, reference } = failure
    const what = `portico: ${method}${target === undefined ? '' : ` ${target.slice(0, MAX_TARGET_CHARS)}`} failed${reference && ` (reference ${reference})`}:`
    if (!onError) return reportError(what, error)
    // The client must get its answer, and the author the error.
    callSafely(
      () => onError(error, failure),
      (fault) => {
        reportError(what, error)
        reportError('portico: onError failed:', fault)
      },
    )
  }

  /**
   * Reports why sealed state or a cursor could not be opened. The client is not told. A few reports a minute are enough, because clients
   * can send anything.
   */
  reportUnopened({ code, cause }: McpError, call: Pick<IncomingCall, 'method' | 'params'>): void {
    if (typeof cause !== 'string' || (code !== 'ERR_STATE_INVALID' && code !== 'ERR_CURSOR_INVALID')) return
    this.#unopened ??= new Bucket(UNOPENED_REPORTS, this.now())
    if (this.#unopened.take(this.now()) > 0) return void this.#unreported++
    const more = this.#unreported > 0 ? ` (and ${this.#unreported} more that were not reported)` : ''
    this.#unreported = 0
    const what = code === 'ERR_STATE_INVALID' ? 'requestState' : 'cursor'
    const error = new McpError(code, `The ${what} of ${call.method} could not be opened: ${cause}${more}`)
    const { onError } = this.#options
    const write = (): void => notices.write('warn', visibleText(`portico: ${error.message}`))
    if (!onError) return write()
    callSafely(
      () => onError(error, { reference: '', method: call.method, target: targetOf(call) }),
      (fault) => {
        write()
        reportError('portico: onError failed:', fault)
      },
    )
  }

  #publishAnnounced(): void {
    const kinds = [...this.#announced]
    this.#announced.clear()
    for (const kind of kinds) this.#publish({ kind })
  }

  #publish(change: Change): void {
    this.bus.publish(change)
    if (this.announcements.size === 0) return
    const addition = change.kind === 'extension' ? this.additions.find(({ id }) => id === change.id) : undefined
    const versions = addition && this.supported.filter((revision) => addition.isIn(revision)).map(({ version }) => version)
    this.tellTransports({ kind: 'change', change, ...(versions && { versions }) })
  }

  tellTransports(announcement: Announcement): void {
    for (const tell of this.announcements) tell(announcement)
  }
}

/** Removes members that are undefined. */
function defined<T extends object>(object: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]: Exclude<T[K], undefined>
  }
}

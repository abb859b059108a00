/** Resources and resource templates: define, list, read. */

import type { Params } from '../../jsonrpc/message.ts'
import { checkMembers, type Members } from '../../protocol/check-members.ts'
import { McpError } from '../../protocol/errors.ts'
import { demand } from '../../protocol/interfaces/access.ts'
import type { Annotations, Cacheable, Icon, Meta } from '../../protocol/model/base.ts'
import type { Resource, ResourceTemplate } from '../../protocol/model/resources.ts'
import { MAX_URI_LENGTH, type MatchedValues, type UriTemplate, uriTemplate } from '../../protocol/uri-template/index.ts'
import { toReadResult } from '../content.ts'
import { CallContext, type Context } from '../context.ts'
import { checkCache, checkCacheMembers, checkMeta, checkScopes, checkWritable } from '../definition.ts'
import type { FeatureEnvironment } from '../feature-environment.ts'
import type { IncomingCall } from '../incoming-call.ts'
import { Listing } from '../listing.ts'
import { type Defined, type Follower, type Handle, Registry } from '../registry.ts'
import { runHandler } from '../run-handler.ts'
import type { Completers } from './completer.ts'

/** The definition of a resource or a template. */
export interface ResourceDefinition<Names extends string = string> {
  /** The name of the resource in the list. */
  name: string
  /** The name to show to people. */
  title?: string
  /** Tells the model and the person what the resource contains. */
  description?: string
  /** The type of the content, such as `application/json`. */
  mimeType?: string
  /** The size in bytes, if known. Not for templates. */
  size?: number
  /** Hints: audience, priority, last change. */
  annotations?: Annotations
  /** Icons to show to people. */
  icons?: Icon[]
  /** How long clients may cache the content. Default: not at all. */
  cache?: Cacheable
  /** Suggests values for the variables of a template, by name. */
  complete?: Completers<Names>
  /** The scopes that a caller needs to see and use the resource, if the transport has authorization. */
  scopes?: readonly string[]
  /** The time limit of the handler. Default: `limits.handlerTimeoutMs`. */
  timeoutMs?: number
  /** Metadata for clients, by prefixed name: `com.example/key`. */
  _meta?: Meta
}

export type ResourceHandler<V> = (variables: V, context: Context) => unknown

/** Changes a resource after its definition. */
export type ResourceHandle = Handle<ResourceDefinition, ResourceHandler<MatchedValues>> & {
  /** Notifies subscribers that the content changed. For a template, `uri` names the resource. */
  changed(uri?: string): void
}

interface ResourceEntry {
  listed: Resource | ResourceTemplate
  template: UriTemplate | undefined
  definition: ResourceDefinition
  handler: ResourceHandler<MatchedValues>
  /** Not listed: clients find it in another way. */
  isHidden: boolean
}

export class Resources {
  readonly #environment: FeatureEnvironment
  readonly #fixed: Registry<ResourceEntry>
  readonly #templates: Registry<ResourceEntry>
  readonly #fixedListing: Listing<Resource>
  readonly #templateListing: Listing<ResourceTemplate>
  #hadCompleters = false

  constructor(environment: FeatureEnvironment) {
    this.#environment = environment
    const changed = (): void => {
      this.#fixedListing.invalidate()
      this.#templateListing.invalidate()
      environment.announce({ kind: 'resources' })
    }
    this.#fixed = new Registry('resource', changed)
    this.#templates = new Registry('resource template', changed)
    const listed =
      <Item>(registry: Registry<ResourceEntry>) =>
      () =>
        registry
          .enabled()
          .filter(({ isHidden }) => !isHidden)
          .map(({ listed: item, definition }) => ({ item: item as Item, scopes: definition.scopes }))
    this.#fixedListing = new Listing({
      member: 'resources',
      keyOf: ({ uri }) => uri,
      entries: listed<Resource>(this.#fixed),
      ...environment.listOptions,
    })
    this.#templateListing = new Listing({
      member: 'resourceTemplates',
      keyOf: (each) => each.uriTemplate,
      entries: listed<ResourceTemplate>(this.#templates),
      ...environment.listOptions,
    })
  }

  get isOffered(): boolean {
    return this.#fixed.wasUsed || this.#templates.wasUsed
  }

  define(uri: string, definition: ResourceDefinition, handler: ResourceHandler<MatchedValues>, isHidden = false): ResourceHandle {
    const isTemplate = uri.includes('{')
    if (!isUri(isTemplate ? uri.replace(/\{[^}]*\}/g, 'x') : uri))
      throw new McpError(
        'ERR_DEFINITION',
        `The URI of a resource must have a scheme and no spaces, got ${JSON.stringify(uri)}; the call is server.resource(uri, { name }, handler)`,
      )
    if (uri.length > MAX_URI_LENGTH)
      throw new McpError('ERR_DEFINITION', `The URI of a resource must have at most ${MAX_URI_LENGTH} characters; got ${uri.length}`)
    const registry = isTemplate ? this.#templates : this.#fixed
    const handle = registry.add(uri, definition, handler, (current, run) => {
      const entry = { ...toEntry(uri, current, run), isHidden }
      if (current.complete !== undefined) this.#hadCompleters = true
      return entry
    })
    // Not a spread, because `isEnabled` of the handle is a getter.
    return Object.assign(handle, { changed: (changedUri = uri) => this.changed(changedUri) })
  }

  isDefined(uri: string): boolean {
    return this.#fixed.isDefined(uri) || this.#templates.isDefined(uri)
  }

  /** For a server that mounts this one. */
  follow(
    follower: (resource: Defined<ResourceDefinition, ResourceHandler<MatchedValues>>, isHidden: boolean) => ResourceHandle | undefined,
  ): void {
    for (const registry of [this.#fixed, this.#templates])
      registry.follow(((defined, { isHidden }) => follower(defined as Parameters<typeof follower>[0], isHidden)) as Follower<ResourceEntry>)
  }

  changed(uri: string): void {
    if (uri.includes('{')) throw new McpError('ERR_DEFINITION', `Expected the URI of a changed resource, got the template ${uri}`)
    this.#environment.announce({ kind: 'resource', uri })
  }

  list(call: IncomingCall): Params | Promise<Params> {
    return this.#fixedListing.page(call.params.cursor, call.access)
  }

  listTemplates(call: IncomingCall): Params | Promise<Params> {
    return this.#templateListing.page(call.params.cursor, call.access)
  }

  read(call: IncomingCall): Params | Promise<Params> {
    const uri = readUri(call.params)
    const found = this.find(uri)
    if (!found) throw notFound(uri)
    const { definition, handler } = found.entry
    demand(call.access, definition.scopes)
    const context = new CallContext(call, this.#environment)
    const timeoutMs = definition.timeoutMs ?? this.#environment.limits.handlerTimeoutMs
    return runHandler(
      call,
      () => handler(found.variables, context),
      (value) => toResult(value, uri, definition),
      timeoutMs,
      this.#environment.deadlines,
    )
  }

  /** The resource with this URI, or the first template that matches it. */
  find(uri: string): { entry: ResourceEntry; variables: MatchedValues } | undefined {
    const fixed = this.#fixed.get(uri)
    if (fixed) return { entry: fixed, variables: {} }
    for (const entry of this.#templates.enabled()) {
      const variables = entry.template?.match(uri)
      if (variables) return { entry, variables }
    }
    return undefined
  }

  get hasScopes(): boolean {
    return [this.#fixed, this.#templates].some((registry) => registry.enabled().some(({ definition }) => definition.scopes?.length))
  }

  /** The scopes that reading this URI needs. */
  scopesOf(uri: unknown): readonly string[] | undefined {
    return typeof uri === 'string' && uri.length <= MAX_URI_LENGTH ? this.find(uri)?.entry.definition.scopes : undefined
  }

  /** The scopes that a template needs, by its listed URI. */
  scopesOfTemplate(uri: unknown): readonly string[] | undefined {
    if (typeof uri !== 'string') return undefined
    return (this.#templates.get(uri) ?? this.#fixed.get(uri))?.definition.scopes
  }

  /** The completers of a template; empty for a resource, undefined when there is neither. */
  completersOf(uri: string): Completers | undefined {
    const entry = this.#templates.get(uri)
    if (entry) return entry.definition.complete ?? {}
    return this.#fixed.get(uri) ? {} : undefined
  }

  /** Whether a template ever had completers. The declared capability stays even if that template is removed. */
  get hadCompleters(): boolean {
    return this.#hadCompleters
  }
}

function toResult(value: unknown, uri: string, { cache, mimeType }: ResourceDefinition): Params {
  if (value === undefined || value === null) throw notFound(uri)
  const { ttlMs = 0, cacheScope = 'private' } = cache ?? {}
  const result = { ttlMs, cacheScope, ...toReadResult(value, uri, mimeType) }
  const fault = checkCacheMembers(result)
  if (fault !== undefined) throw new TypeError(`The handler of ${uri} returned a result whose ${fault}`)
  return result
}

export function readUri(params: Params): string {
  const { uri } = params
  if (typeof uri !== 'string') throw new McpError('ERR_INVALID_PARAMS', 'params.uri must be a string')
  if (uri.length > MAX_URI_LENGTH) throw new McpError('ERR_INVALID_PARAMS', `params.uri is longer than ${MAX_URI_LENGTH} characters`)
  if (!isUri(uri)) throw new McpError('ERR_INVALID_PARAMS', `params.uri is not a URI: ${JSON.stringify(uri.slice(0, 100))}`)
  return uri
}

export const notFound = (uri: string): McpError => new McpError('ERR_RESOURCE_NOT_FOUND', 'Resource not found', { data: { uri } })

/** RFC 3986 requires a scheme. Beyond that, only characters that break lines or paths are refused. */
const isUri = (text: string): boolean => /^[A-Za-z][A-Za-z0-9+.-]*:[^\s\p{Cc}<>"`{}|\\^]*$/u.test(text)

const MEMBERS: Members<ResourceDefinition> = {
  name: 1,
  title: 1,
  description: 1,
  mimeType: 1,
  size: 1,
  annotations: 1,
  icons: 1,
  cache: 1,
  complete: 1,
  scopes: 1,
  timeoutMs: 1,
  _meta: 1,
}

function toEntry(uri: string, definition: ResourceDefinition, handler: ResourceHandler<MatchedValues>): Omit<ResourceEntry, 'isHidden'> {
  const { cache, complete, scopes, timeoutMs: _timeout, ...listed } = definition
  const where = `Resource ${uri}`
  checkMembers(where, definition, MEMBERS)
  checkMeta(where, definition._meta)
  checkScopes(where, scopes)
  checkCache(where, cache)
  checkWritable(where, listed)
  if (!uri.includes('{')) return { listed: { uri, ...listed }, template: undefined, definition, handler }
  const template = uriTemplate(uri)
  const unknown = Object.keys(complete ?? {}).find((name) => !template.variables.includes(name))
  if (unknown !== undefined)
    throw new McpError('ERR_DEFINITION', `The template ${uri} has no variable ${JSON.stringify(unknown)} to complete`)
  const { size: _size, ...described } = listed
  return { listed: { uriTemplate: uri, ...described }, template, definition, handler }
}

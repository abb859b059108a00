/** Files as resources: reads by URI, lists the top level of the operator's folders, and watches subscribed files. */

import { sep } from 'node:path'
import { pathToFileURL } from 'node:url'
import { isObject } from '../../base/json.ts'
import { McpError } from '../../protocol/errors.ts'
import type { Context, ResourceHandle, Server } from '../../server/index.ts'
import type { Area } from './area.ts'
import { decodeText, readWhole } from './contents.ts'
import { type Folder, locate, pathOfUri, within } from './enclosure.ts'
import { mimeTypeOf } from './mime-type.ts'
import { entriesOf } from './walk.ts'
import type { Watches } from './watches.ts'

export function addResources(server: Server, area: Area, watches: Watches): void {
  server.resource(
    'file://{+path}',
    { name: 'file', title: 'File', description: 'A file or a folder in the allowed folders' },
    ({ path }, ctx) => readUri(area, `file://${encodeURI(String(path)).replace(/[?#]/g, encodeURIComponent)}`, ctx),
  )
  server.use(async (call, next) => {
    // The list covers all folders of the operator, which may be more than this client's roots.
    if (call.method === 'resources/list' && call.caller.capabilities.roots) return { ...(await next()), resources: [] }
    const wanted = wantedUris(call.method, call.params)
    for (const uri of wanted) await watches.add(uri)
    return next()
  })
}

/** The URIs of a subscription request. */
function wantedUris(method: string, params: Record<string, unknown>): string[] {
  if (method === 'resources/subscribe') return typeof params.uri === 'string' ? [params.uri] : []
  if (method !== 'subscriptions/listen' || !isObject(params.notifications)) return []
  const { resourceSubscriptions } = params.notifications
  return Array.isArray(resourceSubscriptions) ? resourceSubscriptions.filter((uri) => typeof uri === 'string') : []
}

async function readUri(area: Area, uri: string, ctx: Context): Promise<unknown> {
  const path = pathOfUri(uri)
  try {
    if (path === undefined) throw new Error('Not a local file URI')
    return await area.go(path, ctx, async ({ spot }) => {
      if (spot.segments.length === 0) return await readFolder(area, spot, uri, ctx)
      const kind = await within(spot, area.hold, async (parent, name) => (await parent.look(name)).isDirectory())
      return kind ? readFolder(area, spot, uri, ctx) : readFile(area, spot, uri)
    })
  } catch (cause) {
    if (cause instanceof McpError) throw cause
    // One error for all causes, so that it does not reveal which paths exist outside the folders.
    throw new McpError('ERR_RESOURCE_NOT_FOUND', 'Resource not found', { data: { uri }, cause })
  }
}

async function readFile(area: Area, spot: { folder: Folder; segments: string[] }, uri: string) {
  return within(spot, area.hold, async (parent, name) => {
    const { handle } = await parent.openFile(name)
    try {
      const { maxReadBytes } = area.limits
      const bytes = await readWhole(handle, maxReadBytes)
      if (!bytes)
        throw new McpError(
          'ERR_LIMIT',
          `The file is larger than ${maxReadBytes} bytes (maxReadBytes); use the read tool to read it in parts`,
        )
      const text = decodeText(bytes)
      const mimeType = mimeTypeOf(name, text !== undefined)
      return text === undefined ? { uri, mimeType, blob: bytes.toString('base64') } : { uri, mimeType, text }
    } finally {
      await handle.close()
    }
  })
}

async function readFolder(area: Area, spot: { folder: Folder; segments: string[] }, uri: string, { signal }: Context) {
  const entries = await area.enter(spot, (held) => entriesOf(held, { visited: { count: 0, max: area.limits.maxVisited }, signal }))
  const base = uri.endsWith('/') ? uri : `${uri}/`
  const listed = entries.slice(0, area.limits.maxEntries).map(({ name, kind }) => ({ uri: base + encodeURIComponent(name), name, kind }))
  return { uri, mimeType: 'application/json', text: JSON.stringify({ entries: listed, hasMore: listed.length < entries.length }) }
}

/** Keeps the list of resources equal to the top level of the operator's folders. */
export class ResourceList {
  readonly #server: Server
  readonly #area: Area
  readonly #handles = new Map<string, ResourceHandle>()
  #refreshing: Promise<void> = Promise.resolve()

  constructor(server: Server, area: Area) {
    this.#server = server
    this.#area = area
  }

  refresh(): Promise<void> {
    this.#refreshing = this.#refreshing.then(() => this.#refresh()).catch(() => {})
    return this.#refreshing
  }

  async #refresh(): Promise<void> {
    const there = new Map<string, string>()
    for (const folder of this.#area.operator) {
      const visited = { count: 0, max: this.#area.limits.maxVisited }
      const entries = await this.#area
        .enter({ folder, segments: [] }, (held) => entriesOf(held, { visited, signal: new AbortController().signal }))
        // A missing folder counts as empty. It may come back.
        .catch(() => [])
      for (const { name, kind } of entries) {
        if (kind === 'file' && !name.endsWith('.portico.tmp')) there.set(uriOf(folder.real, name), name)
      }
    }
    for (const [uri, handle] of this.#handles) {
      if (there.has(uri)) continue
      handle.remove()
      this.#handles.delete(uri)
    }
    for (const [uri, name] of there) {
      if (this.#handles.has(uri) || this.#handles.size >= this.#area.limits.maxEntries) continue
      const definition = { name, mimeType: mimeTypeOf(name, true) }
      this.#handles.set(
        uri,
        this.#server.resource(uri, definition, (_, ctx) => readUri(this.#area, uri, ctx)),
      )
    }
  }
}

export const uriOf = (root: string, ...segments: string[]): string => pathToFileURL([root, ...segments].join(sep)).href

/** The place of a URI, if it is in one of the folders. */
export function spotOf(folders: readonly Folder[], uri: string) {
  const path = pathOfUri(uri)
  if (path === undefined) return undefined
  try {
    return locate(folders, path)
  } catch {
    return undefined
  }
}

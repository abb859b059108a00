/** The extension for skills, as a server has it. It needs Node, so `server.skills` loads it on use. */

import type { Params } from '../../jsonrpc/message.ts'
import { checkMembers } from '../../protocol/check-members.ts'
import { McpError } from '../../protocol/errors.ts'
import { demand } from '../../protocol/interfaces/access.ts'
import type { Resource } from '../../protocol/model/resources.ts'
import { SKILLS, type Skill } from '../../protocol/model/skills.ts'
import { openSkillFolder } from '../../skills/node/skill-folder.ts'
import type { SkillsOptions } from '../../skills/options.ts'
import type { ServedFile, SkillSource, SkillTree } from '../../skills/skill-source.ts'
import { textOf } from '../../skills/verify.ts'
import type { Addition } from '../addition.ts'
import { type ResourceDefinition, type ResourceHandle, readUri } from '../features/resources.ts'
import type { IncomingCall } from '../incoming-call.ts'
import { Listing } from '../listing.ts'
import type { ServerState } from '../server-state.ts'

/** An entry may list 512 files, so a page has few entries. */
const MAX_PAGE = 50

const METHODS: ReadonlySet<string> = new Set(['skills/list', 'skills/get', 'resources/directory/read'])

/** Adds the skills of a folder to a server. Nothing is added if the folder cannot be served. */
export async function serveSkills(serverState: ServerState, folder: string | URL, options: SkillsOptions = {}): Promise<void> {
  checkMembers('server.skills', options, { directoryRead: 1, watch: 1, scopes: 1, maxEntries: 1, onWarning: 1 })
  const source = await openSkillFolder(folder, options)
  // Before the files become resources: another call may have ended while this one read its folder.
  if (serverState.capabilities().extensions?.[SKILLS])
    throw new McpError(
      'ERR_DEFINITION',
      'This server has skills already: call server.skills() once, with one folder that contains them all',
    )
  serverState.add(new SkillSupport(serverState, source, options))
}

class SkillSupport implements Addition {
  readonly id = SKILLS
  readonly isMounted = true
  readonly settings: Addition['settings']
  /** Clients need not declare the extension: its methods only read. */
  readonly isIn: Addition['isIn'] = ({ hasExtensions }) => hasExtensions
  readonly #serverState: ServerState
  readonly #source: SkillSource
  readonly #scopes: readonly string[] | undefined
  readonly #handles = new Map<string, ResourceHandle>()
  readonly #listing: Listing<Skill>
  readonly #folders = new Map<string, Listing<Resource>>()
  #isStarted = false

  constructor(serverState: ServerState, source: SkillSource, { directoryRead = true, scopes }: SkillsOptions) {
    this.#serverState = serverState
    this.#source = source
    this.#scopes = scopes
    this.settings = directoryRead ? { directoryRead } : {}
    const { pageSize, ...listOptions } = serverState.listOptions
    this.#listing = new Listing({
      ...listOptions,
      member: 'skills',
      pageSize: Math.min(pageSize, MAX_PAGE),
      keyOf: ({ uri }) => uri,
      entries: () => this.#source.tree.skills.map((item) => ({ item, scopes })),
    })
    try {
      for (const [uri, file] of source.tree.files) this.#define(uri, file)
    } catch (error) {
      // The server may have a resource of its own with one of these URIs. Then none of the files is served.
      for (const handle of this.#handles.values()) handle.remove()
      throw error
    }
  }

  start(): void {
    if (this.#isStarted) return
    this.#isStarted = true
    this.#source.start((before) => this.#onChange(before))
  }

  async close(): Promise<void> {
    this.#source.close()
  }

  has(method: string): boolean {
    return METHODS.has(method)
  }

  run(call: IncomingCall): Promise<Params> | undefined {
    if (!this.isIn(call.revision)) return undefined
    if (call.method === 'skills/list') return this.#list(call)
    if (call.method === 'skills/get') return this.#get(call)
    if (call.method === 'resources/directory/read' && this.settings.directoryRead) return this.#readFolder(call)
    return undefined
  }

  async #list({ params, access }: IncomingCall): Promise<Params> {
    await this.#source.settled()
    return this.#listing.page(params.cursor, access)
  }

  async #get({ params, access }: IncomingCall): Promise<Params> {
    demand(access, this.#scopes)
    const uri = readUri(params)
    await this.#source.settled()
    const skill = this.#source.tree.skills.find((each) => each.uri === uri)
    if (!skill) throw new McpError('ERR_INVALID_PARAMS', `There is no skill ${uri}`, { data: { uri } })
    return { skill, ...this.#serverState.listOptions.cache }
  }

  async #readFolder({ params, access }: IncomingCall): Promise<Params> {
    demand(access, this.#scopes)
    const uri = readUri(params)
    await this.#source.settled()
    const { files, folders } = this.#source.tree
    if (!folders.has(uri)) {
      const why = files.has(uri) ? `${uri} is a file, not a folder` : `There is no folder ${uri}`
      throw new McpError('ERR_INVALID_PARAMS', why, { data: { uri } })
    }
    let listing = this.#folders.get(uri)
    if (!listing) {
      listing = new Listing({
        ...this.#serverState.listOptions,
        member: 'resources',
        keyOf: (each) => each.uri,
        entries: () => (this.#source.tree.folders.get(uri) ?? []).map((item) => ({ item, scopes: this.#scopes })),
      })
      this.#folders.set(uri, listing)
    }
    // The extension does not let clients keep this result.
    const { ttlMs: _ttl, cacheScope: _scope, ...page } = await listing.page(params.cursor, access)
    return page
  }

  #onChange(before: SkillTree): void {
    const { files } = this.#source.tree
    this.#listing.invalidate()
    this.#folders.clear()
    for (const [uri, handle] of this.#handles) {
      if (files.has(uri)) continue
      handle.remove()
      this.#handles.delete(uri)
    }
    for (const [uri, file] of files) {
      const handle = this.#handles.get(uri)
      if (!handle) this.#define(uri, file)
      else if (before.files.get(uri)?.digest !== file.digest) {
        // Also announces that the list changed: so clients notice that an entry has new digests.
        handle.update(definitionOf(file, this.#scopes))
        handle.changed()
      }
    }
  }

  #define(uri: string, file: ServedFile): void {
    const read = async (): Promise<unknown> => {
      const bytes = await this.#source.read(uri)
      const text = bytes && textOf(bytes)
      return text ?? bytes
    }
    this.#handles.set(uri, this.#serverState.resources.define(uri, definitionOf(file, this.#scopes), read))
  }
}

function definitionOf({ resource: { uri: _, ...listed } }: ServedFile, scopes: readonly string[] | undefined): ResourceDefinition {
  return { ...listed, ...(scopes && { scopes }) }
}

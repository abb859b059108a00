/** Our own list of servers: the one file that is written, and that several processes may write. */

import { join } from 'node:path'
import type { LockLimits } from '../../files/lock-file.ts'
import { sharedJson } from '../../files/shared-json.ts'
import { McpError } from '../../protocol/errors.ts'
import { withDefaults } from '../../protocol/with-defaults.ts'
import type { ServerSpec } from '../servers/spec.ts'
import { entryOf, portico } from './dialects/portico.ts'
import { DEFAULT_CONFIG_LIMITS } from './limits.ts'
import { isObject } from './members.ts'
import { mergeServers } from './merge.ts'
import { safeName } from './names.ts'
import { problemsOf, Refused } from './problem.ts'
import { type ReadConfig, readDocument } from './read.ts'

export interface ServerFileLimits extends LockLimits {
  maxServers: number
  maxFileBytes: number
}

export interface ServerFile {
  readonly file: string
  list(): Promise<ReadConfig>
  /** ERR_CONFIG when there is one of that name. */
  add(spec: ServerSpec): Promise<void>
  /** Adds what is not there yet; a server that is there already is told where else it comes from. Returns what is new, with its name here. */
  adopt(specs: readonly ServerSpec[]): Promise<ServerSpec[]>
  /** ERR_SERVER_UNKNOWN when there is none. */
  update(id: string, change: (spec: ServerSpec) => ServerSpec): Promise<ServerSpec>
  /** False when there was none. */
  remove(id: string): Promise<boolean>
}

/** Entries are kept as they are, also those that cannot be read: a person may have written them, and can mend them. */
interface Document {
  mcpServers: Readonly<Record<string, unknown>>
}

export function serverFile(folder: string, options: Partial<ServerFileLimits> = {}): ServerFile {
  const limits = withDefaults({ ...DEFAULT_CONFIG_LIMITS, lockTimeoutMs: 10_000, lockStaleMs: 10_000 }, options)
  const { maxServers, maxFileBytes } = limits
  const file = join(folder, 'servers.json')
  const shared = sharedJson<Document>(file, { empty: { mcpServers: {} }, check, maxBytes: maxFileBytes, limits })

  const specsIn = (document: Document): ReadConfig => {
    const problems = problemsOf(file, DEFAULT_CONFIG_LIMITS.maxProblems)
    const source = { file, dialect: portico, scope: 'ours' as const }
    return { ...readDocument(document, source, { limits: { maxServers } }, problems.add), problems: problems.list }
  }
  const changed = (change: (entries: Record<string, unknown>, document: Document) => void): Promise<Document> =>
    shared.update((document) => {
      const entries = { ...document.mcpServers }
      change(entries, document)
      const count = Object.keys(entries).length
      if (count > maxServers) throw new McpError('ERR_LIMIT', `${file} would have ${count} servers, more than ${maxServers} (maxServers)`)
      return { ...document, mcpServers: entries }
    })
  /** The name that an entry has in the file may be one that is not safe to use elsewhere. */
  const keyOf = (entries: Record<string, unknown>, id: string): string | undefined =>
    Object.hasOwn(entries, id) ? id : Object.keys(entries).find((name) => safeName(name) === id)

  return {
    file,
    list: async () => specsIn(await shared.read()),
    add: async (spec) => {
      const entry = readable(spec)
      await changed((entries) => {
        if (keyOf(entries, spec.id) !== undefined) throw new McpError('ERR_CONFIG', `There is a server ${spec.id} already in ${file}`)
        entries[spec.id] = entry
      })
    },
    adopt: async (specs) => {
      for (const spec of specs) readable(spec)
      let added: ServerSpec[] = []
      await changed((entries, document) => {
        const known = specsIn(document).servers
        // A name of an entry that cannot be read is taken as well.
        const unread = Object.keys(entries).filter((name) => !known.some(({ id }) => keyOf(entries, id) === name))
        const merged = mergeServers(known, specs, unread)
        added = merged.slice(known.length)
        for (const spec of merged) {
          const isNew = added.includes(spec)
          if (isNew || known.some((other) => other.id === spec.id && other.provenance.length < spec.provenance.length)) {
            entries[keyOf(entries, spec.id) ?? spec.id] = entryOf(spec)
          }
        }
      })
      return added
    },
    update: async (id, change) => {
      let result: ServerSpec | undefined
      await changed((entries, document) => {
        const before = specsIn(document).servers.find((spec) => spec.id === id)
        if (!before) throw new McpError('ERR_SERVER_UNKNOWN', `There is no server ${id} in ${file}`)
        result = { ...change(before), id }
        entries[keyOf(entries, id) ?? id] = readable(result)
      })
      return result as unknown as ServerSpec
    },
    remove: async (id) => {
      let isThere = false
      await changed((entries) => {
        const key = keyOf(entries, id)
        isThere = key !== undefined
        if (key !== undefined) delete entries[key]
      })
      return isThere
    },
  }
}

/** The entry of a server, which must be one that comes back when it is read. */
function readable(spec: ServerSpec): Record<string, unknown> {
  if (safeName(spec.id) !== spec.id) {
    throw new McpError('ERR_CONFIG', 'A server has a name of up to 64 letters, digits, dots, hyphens and underscores')
  }
  const entry = entryOf(spec)
  const faults: string[] = []
  try {
    const document = JSON.parse(JSON.stringify({ mcpServers: { [spec.id]: entry } }))
    readDocument(document, { file: 'servers.json', dialect: portico }, {}, (where, text) => faults.push(`${where}: ${text}`))
  } catch (error) {
    if (!(error instanceof Refused)) throw error
    faults.push(error.message)
  }
  if (faults.length > 0) throw new McpError('ERR_CONFIG', faults.join('; '))
  return entry
}

function check(value: unknown): Document {
  if (!isObject(value) || !isObject(value.mcpServers)) throw new Error('an object with mcpServers was expected')
  return value as Record<string, unknown> & Document
}

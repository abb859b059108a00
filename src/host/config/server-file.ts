/** The host's own list of servers: the only configuration file that is written, possibly by several processes. */

import { join } from 'node:path'
import type { FileFormat } from '../../files/file-format.ts'
import type { LockLimits } from '../../files/lock-file.ts'
import { sharedJson } from '../../files/shared-json.ts'
import { McpError } from '../../protocol/errors.ts'
import { withDefaults } from '../../protocol/with-defaults.ts'
import type { ServerSpec } from '../model/server-spec.ts'
import { writeEntry } from './formats/portico.ts'
import { DEFAULT_CONFIG_LIMITS } from './limits.ts'
import { matchKnownServers, mergeServers, renewServer } from './merge.ts'
import { collectProblems } from './problem.ts'
import { type Read, type ReadConfig, readDocument } from './read-document.ts'
import { isObject } from './read-members.ts'
import { safeName } from './server-names.ts'

export interface ServerFileLimits extends LockLimits {
  maxServers: number
  maxFileBytes: number
}

export interface ServerFile {
  readonly file: string
  list(): Promise<ReadConfig>
  /** Adds a server. ERR_CONFIG if the name is taken. */
  add(spec: ServerSpec): Promise<void>
  /**
   * Imports servers. New servers are added. An entry that was imported from the same file under the same name gets the current command
   * or address of that file. For any other server that is already listed, only the additional provenance is recorded.
   */
  adopt(specs: readonly ServerSpec[]): Promise<Adopted>
  /** Changes a server. ERR_SERVER_UNKNOWN if it is not listed. */
  update(id: string, change: (spec: ServerSpec) => ServerSpec): Promise<ServerSpec>
  /** Removes a server. False: it was not listed. */
  remove(id: string): Promise<boolean>
}

/** The result of `adopt`, with the names that the servers have in this list. */
export interface Adopted {
  added: ServerSpec[]
  updated: ServerSpec[]
}

/** Entries that cannot be read are kept: a person may have written them, and can fix them. */
interface Document {
  mcpServers: Readonly<Record<string, unknown>>
}

const SERVERS_FORMAT: FileFormat = { version: 1, upgrades: [(document) => document] }

/**
 * Opens the host's own list of servers, `servers.json` in this folder.
 *
 * @example
 * const { servers } = await serverFile(hostFolder()).list()
 */
export function serverFile(folder: string, options: Partial<ServerFileLimits> = {}): ServerFile {
  const limits = withDefaults({ ...DEFAULT_CONFIG_LIMITS, lockTimeoutMs: 10_000 }, options, { of: 'serverFile' })
  const { maxServers, maxFileBytes } = limits
  const file = join(folder, 'servers.json')
  const shared = sharedJson<Document>(file, { empty: { mcpServers: {} }, format: SERVERS_FORMAT, check, maxBytes: maxFileBytes, limits })

  const readIn = (document: Document, problem: (where: string, text: string) => void = () => {}): Read =>
    readDocument(document, { file, isOurs: true }, { limits: { maxServers } }, problem)
  const changed = (change: (entries: Record<string, unknown>, document: Document) => void): Promise<Document> =>
    shared.update((document) => {
      const entries = { ...document.mcpServers }
      change(entries, document)
      const count = Object.keys(entries).length
      if (count > maxServers) throw new McpError('ERR_LIMIT', `${file} would have ${count} servers, more than ${maxServers} (maxServers)`)
      return { ...document, mcpServers: entries }
    })
  return {
    file,
    list: async () => {
      const problems = collectProblems(file, DEFAULT_CONFIG_LIMITS.maxProblems)
      const { servers, inputs } = readIn(await shared.read(), problems.add)
      return { servers, inputs, problems: problems.list }
    },
    add: async (spec) => {
      const entry = checkedEntry(spec)
      await changed((entries, document) => {
        if (Object.hasOwn(entries, spec.id) || readIn(document).names.has(spec.id)) {
          throw new McpError('ERR_CONFIG', `${file} already has a server ${spec.id}`)
        }
        entries[spec.id] = entry
      })
    },
    adopt: async (specs) => {
      for (const spec of specs) checkedEntry(spec)
      let adopted: Adopted = { added: [], updated: [] }
      await changed((entries, document) => {
        const { servers: known, names } = readIn(document)
        const former = matchKnownServers(known, specs)
        const current = [...known]
        for (const [spec, at] of former) current[at] = renewServer(known[at] as ServerSpec, spec)
        const others = specs.filter((spec) => !former.has(spec))
        // The names of unreadable entries count as taken.
        const merged = mergeServers(current, others, Object.keys(entries))
        const added = merged.slice(known.length)
        const updated = current.filter(({ transport }, at) => transport !== known[at]?.transport)
        for (const spec of added) entries[spec.id] = writeEntry(spec)
        for (const spec of updated) entries[names.get(spec.id) ?? spec.id] = writeEntry(spec)
        for (const [i, { id, provenance }] of known.entries()) {
          const now = merged[i]?.provenance ?? provenance
          const name = names.get(id) ?? id
          // Nothing else changes: settings in this list outweigh those of another client.
          if (now.length > provenance.length) entries[name] = { ...(entries[name] as object), provenance: now }
        }
        adopted = { added, updated }
      })
      return adopted
    },
    update: async (id, change) => {
      let result: ServerSpec | undefined
      await changed((entries, document) => {
        const { servers, names } = readIn(document)
        const before = servers.find((spec) => spec.id === id)
        if (!before) throw new McpError('ERR_SERVER_UNKNOWN', `${file} has no server ${id}`)
        result = { ...change(before), id }
        entries[names.get(id) ?? id] = checkedEntry(result)
      })
      return result as unknown as ServerSpec
    },
    remove: async (id) => {
      let isThere = false
      await changed((entries, document) => {
        // Unreadable entries have no id and are removed by their name in the file.
        const name = readIn(document).names.get(id) ?? id
        isThere = Object.hasOwn(entries, name)
        delete entries[name]
      })
      return isThere
    },
  }
}

/** The entry of a server. Throws if reading it back would report a problem. */
function checkedEntry(spec: ServerSpec): Record<string, unknown> {
  if (safeName(spec.id) !== spec.id) {
    throw new McpError(
      'ERR_CONFIG',
      `Invalid server name ${JSON.stringify(spec.id)}: expected up to 64 letters, digits, dots, hyphens and underscores`,
    )
  }
  const entry = writeEntry(spec)
  const faults: string[] = []
  const document = JSON.parse(JSON.stringify({ mcpServers: { [spec.id]: entry } }))
  readDocument(document, { file: 'servers.json', isOurs: true }, {}, (where, text) => faults.push(`${where}: ${text}`))
  if (faults.length > 0) throw new McpError('ERR_CONFIG', faults.join('; '))
  return entry
}

function check(value: unknown): Document {
  if (!isObject(value) || !isObject(value.mcpServers)) throw new Error('expected an object with mcpServers')
  return value as Record<string, unknown> & Document
}

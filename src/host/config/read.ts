/** Files to servers. Nothing is started, nothing is written, and one bad entry or file costs none of the others. */

import { constants } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { homedir } from 'node:os'
import { basename, resolve } from 'node:path'
import { codeOf } from '../../files/private-file.ts'
import { withDefaults } from '../../protocol/with-defaults.ts'
import type { InputSpec, Provenance, ServerSpec } from '../servers/spec.ts'
import { dialectOf, syntaxOf } from './detect.ts'
import type { Dialect, Draft, Reading } from './dialect.ts'
import { claudeCodeState } from './dialects/claude-code.ts'
import { portico } from './dialects/portico.ts'
import { parse } from './document.ts'
import { type ConfigLimits, DEFAULT_CONFIG_LIMITS } from './limits.ts'
import { membersOf } from './members.ts'
import { freeName, safeName } from './names.ts'
import { placeholdersIn } from './placeholder.ts'
import { type ConfigProblem, problemsOf, Refused, shown } from './problem.ts'

export interface ReadConfig {
  servers: ServerSpec[]
  /** What the files declare for all of their servers; each server has those it uses. */
  inputs: InputSpec[]
  problems: ConfigProblem[]
}

export interface ReadConfigOptions {
  /** What `~` and the like mean in files that say so. */
  home?: string
  /** The folder that the person works in. */
  project?: string
  limits?: Partial<ConfigLimits>
}

/** A file together with what is known about it already. */
export interface ConfigFile {
  file: string
  dialect?: Dialect
  client?: string
  scope?: Provenance['scope']
}

/** Reads one file or several; what kind each is follows from where it is and what is in it. Never fails: what cannot be read is a problem. */
export async function readConfig(
  files: string | ConfigFile | readonly (string | ConfigFile)[],
  options: ReadConfigOptions = {},
): Promise<ReadConfig> {
  const limits = withDefaults(DEFAULT_CONFIG_LIMITS, options.limits)
  const all: ReadConfig = { servers: [], inputs: [], problems: [] }
  const list = typeof files === 'string' || 'file' in files ? [files] : files
  const taken = new Set<string>()
  for (const [i, each] of list.entries()) {
    const source = typeof each === 'string' ? { file: each } : each
    if (i >= limits.maxFiles) {
      all.problems.push({ file: source.file, where: '', text: `More than ${limits.maxFiles} files are not read (maxFiles)` })
      break
    }
    const one = await readOne(source, options, limits)
    const room = limits.maxServers - all.servers.length
    if (one.servers.length > room) {
      const text = `${one.servers.length - room} servers are left out: all files have more than ${limits.maxServers} (maxServers)`
      all.problems.push({ file: source.file, where: '', text })
    }
    for (const spec of one.servers.slice(0, room)) {
      const id = freeName(spec.id, taken)
      if (id !== spec.id) all.problems.push({ file: source.file, where: spec.id, text: `Another server has this name; this one is ${id}` })
      taken.add(id)
      all.servers.push({ ...spec, id })
    }
    all.inputs.push(...one.inputs)
    all.problems.push(...one.problems)
  }
  return all
}

async function readOne(source: ConfigFile, options: ReadConfigOptions, limits: ConfigLimits): Promise<ReadConfig> {
  const file = resolve(source.file)
  const isState = source.dialect === claudeCodeState || basename(file) === '.claude.json'
  const text = await textOf(file, isState ? limits.maxStateBytes : limits.maxFileBytes, isState ? 'maxStateBytes' : 'maxFileBytes')
  if (typeof text === 'string') return readText(text, { ...source, file }, { ...options, limits })
  return { servers: [], inputs: [], problems: [{ file, where: '', text: text.fault }] }
}

/** What a file says, from its text. */
export function readText(text: string, source: ConfigFile, options: ReadConfigOptions = {}): ReadConfig {
  const limits = withDefaults(DEFAULT_CONFIG_LIMITS, options.limits)
  const problems = problemsOf(source.file, limits.maxProblems)
  try {
    // A file that was made and not yet filled.
    if (text.trim() === '') return { servers: [], inputs: [], problems: problems.list }
    const document = parse(text, syntaxOf(source.file), problems.add)
    const { servers, inputs } = readDocument(document, source, { ...options, limits }, problems.add)
    return { servers, inputs, problems: problems.list }
  } catch (error) {
    if (error instanceof Refused) problems.add(error.where, error.message)
    else problems.add('', 'It cannot be read')
    return { servers: [], inputs: [], problems: problems.list }
  }
}

export interface Read extends Omit<ReadConfig, 'problems'> {
  /** The name that each server has in the document, by its id. */
  names: ReadonlyMap<string, string>
}

/** What a parsed document says. */
export function readDocument(
  document: unknown,
  source: ConfigFile,
  options: ReadConfigOptions,
  problem: (where: string, text: string) => void,
): Read {
  const limits = withDefaults(DEFAULT_CONFIG_LIMITS, options.limits)
  const dialect = source.dialect ?? dialectOf(source.file, document)
  const provenance: Provenance = {
    client: source.client ?? dialect.client,
    scope: source.scope ?? (dialect === portico ? 'ours' : 'user'),
    file: source.file,
  }
  const inputs = new Map<string, InputSpec>()
  const drafts: { name: string; draft: Draft }[] = []
  let passedOver = 0
  const reading: Reading = {
    file: source.file,
    places: { home: options.home ?? homedir(), project: options.project },
    problem,
    input: (input) => void inputs.set(input.id, input),
    server: (name, where, make) => {
      if (drafts.length >= limits.maxServers) return void passedOver++
      attempt(
        where,
        () => {
          const draft = make()
          if (draft) drafts.push({ name, draft })
        },
        '; the server is left out',
      )
    },
  }
  const attempt = (where: string, act: () => void, consequence = ''): void => {
    try {
      act()
    } catch (error) {
      if (error instanceof Refused) problem(error.where, error.message + consequence)
      else problem(where, `It cannot be read${consequence}`)
    }
  }
  // What was read before the fault stays read.
  attempt('', () => dialect.read(membersOf(document, ''), reading))
  if (passedOver > 0) problem('', `${passedOver} servers more than ${limits.maxServers} are left out (maxServers)`)
  // A name that can be used as it is belongs to who has it, and not to who came first with one like it.
  const reserved = new Set(drafts.flatMap(({ name }) => (safeName(name) === name ? [name] : [])))
  const names = new Map<string, string>()
  const servers = drafts.map(({ name, draft }) => {
    const id = reserved.has(name) && !names.has(name) ? name : freeName(safeName(name), reserved)
    reserved.add(id)
    names.set(id, name)
    const used = inputsOf(draft, inputs)
    const title = draft.title ?? (id === name || name === '' ? undefined : shown(name))
    return {
      ...draft,
      id,
      tier: draft.tier ?? 'untrusted',
      provenance: draft.provenance?.length ? draft.provenance : [provenance],
      ...(title !== undefined && { title }),
      ...(used.length > 0 && { inputs: used }),
    } satisfies ServerSpec
  })
  return { servers, inputs: [...inputs.values()], names }
}

/** Those that the placeholders of a server name; one that nobody described is taken for a secret. */
function inputsOf(draft: Draft, declared: ReadonlyMap<string, InputSpec>): InputSpec[] {
  const names = new Set(placeholdersIn(draft).flatMap(({ kind, name }) => (kind === 'input' ? [name] : [])))
  return [...names].map((id) => draft.inputs?.find((input) => input.id === id) ?? declared.get(id) ?? { id, isSecret: true })
}

/** Only of a file: a pipe would keep the reader waiting, and a device never end. */
async function textOf(file: string, maxBytes: number, limit: string): Promise<string | { fault: string }> {
  let handle: FileHandle | undefined
  try {
    handle = await open(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
    const stats = await handle.stat()
    if (!stats.isFile()) return { fault: 'It is not a file' }
    if (stats.size > maxBytes) return { fault: `It is larger than ${maxBytes} bytes (${limit})` }
    // It may have grown since.
    const bytes = Buffer.alloc(Math.min(stats.size + 1, maxBytes + 1))
    const { bytesRead } = await handle.read(bytes, 0, bytes.length, 0)
    if (bytesRead > stats.size) return { fault: 'It was changed while it was read' }
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes.subarray(0, bytesRead))
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return { fault: 'There is no such file' }
    return { fault: error instanceof TypeError ? 'It is not UTF-8 text' : `It cannot be read (${codeOf(error) ?? 'unknown error'})` }
  } finally {
    await handle?.close().catch(() => {})
  }
}

/** What a document says that was parsed already. Apart from read.ts, so that our own list needs none of the parsers. */

import { homedir } from 'node:os'
import { isAbsolute, relative, resolve, sep } from 'node:path'
import { withDefaults } from '../../protocol/with-defaults.ts'
import { placeholdersIn } from '../launch/placeholder.ts'
import type { ConfigProvenance, InputSpec, ServerSpec } from '../model/server-spec.ts'
import { dialectOf } from './detect.ts'
import type { Dialect, Draft, Reading } from './dialect.ts'
import { portico } from './dialects/portico.ts'
import { type ConfigLimits, DEFAULT_CONFIG_LIMITS } from './limits.ts'
import { membersOf } from './members.ts'
import { freeName, safeName } from './names.ts'
import { type ConfigProblem, Refused, shown } from './problem.ts'

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
  scope?: ConfigProvenance['scope']
  /** It is the list of the person who runs the host: what it says about trust, folders and secrets is believed. */
  isOurs?: boolean
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
  const dialect = source.dialect ?? (source.isOurs ? portico : dialectOf(source.file, document))
  const provenance: ConfigProvenance = {
    client: source.client ?? dialect.client,
    scope: source.scope ?? (dialect === portico ? 'ours' : isUnder(options.project, source.file) ? 'project' : 'user'),
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

/** What lies in a project came with it. */
function isUnder(project: string | undefined, file: string): boolean {
  if (project === undefined) return false
  const path = relative(resolve(project), resolve(file))
  return path !== '..' && !path.startsWith(`..${sep}`) && !isAbsolute(path)
}

/** Those that the placeholders of a server name; one that nobody described is taken for a secret. */
function inputsOf(draft: Draft, declared: ReadonlyMap<string, InputSpec>): InputSpec[] {
  const names = new Set(placeholdersIn(draft).flatMap(({ kind, name }) => (kind === 'input' ? [name] : [])))
  return [...names].map((id) => draft.inputs?.find((input) => input.id === id) ?? declared.get(id) ?? { id, isSecret: true })
}

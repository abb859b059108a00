/** Reads servers from a parsed document. Separate from read-config.ts, so that our own list does not load the parsers. */

import { homedir } from 'node:os'
import { isAbsolute, relative, resolve, sep } from 'node:path'
import { counted } from '../../base/text/counted.ts'
import { withDefaults } from '../../protocol/with-defaults.ts'
import type { ConfigProvenance, InputSpec, ServerSpec } from '../model/server-spec.ts'
import { placeholdersIn } from '../server-command/placeholder.ts'
import { detectFormat } from './detect-format.ts'
import type { ConfigFormat, FormatContext, ServerDraft } from './format.ts'
import { portico } from './formats/portico.ts'
import { type ConfigLimits, DEFAULT_CONFIG_LIMITS } from './limits.ts'
import { type ConfigProblem, Refused, safeText } from './problem.ts'
import { readMembers } from './read-members.ts'
import { freeName, safeName } from './server-names.ts'

export interface ReadConfig {
  servers: ServerSpec[]
  /** Inputs that the files declare for all their servers. Each server also lists the inputs it uses. */
  inputs: InputSpec[]
  problems: ConfigProblem[]
}

export interface ReadConfigOptions {
  /** The home directory, for placeholders such as `${userHome}`. Default: the user's. */
  home?: string
  /** The project folder, for placeholders such as `${workspaceFolder}`, and to mark files inside it as files of the project. */
  project?: string
  limits?: Partial<ConfigLimits>
}

/** A file, with everything that is already known about it. */
export interface ConfigFile {
  file: string
  format?: ConfigFormat
  client?: string
  scope?: ConfigProvenance['scope']
  /** The file is the person's own list: its trust tiers, roots and secrets apply. Default: false. */
  isOurs?: boolean
}

export interface Read extends Omit<ReadConfig, 'problems'> {
  /** The name of each server in the document, by its id. */
  names: ReadonlyMap<string, string>
}

/** Reads the servers of a parsed document. */
export function readDocument(
  document: unknown,
  source: ConfigFile,
  options: ReadConfigOptions,
  problem: (where: string, text: string) => void,
): Read {
  const limits = withDefaults(DEFAULT_CONFIG_LIMITS, options.limits)
  const format = source.format ?? (source.isOurs ? portico : detectFormat(source.file, document))
  const provenance: ConfigProvenance = {
    client: source.client ?? format.client,
    scope: source.scope ?? (format === portico ? 'ours' : isUnder(options.project, source.file) ? 'project' : 'user'),
    file: source.file,
  }
  const inputs = new Map<string, InputSpec>()
  const drafts: { name: string; draft: ServerDraft }[] = []
  let passedOver = 0
  const reading: FormatContext = {
    file: source.file,
    folders: { home: options.home ?? homedir(), project: options.project },
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
        '. The server is ignored',
      )
    },
  }
  const attempt = (where: string, act: () => void, consequence = ''): void => {
    try {
      act()
    } catch (error) {
      if (error instanceof Refused) problem(error.where, error.message + consequence)
      else problem(where, `The entry cannot be read${consequence}`)
    }
  }
  // Servers that were read before the error are kept.
  attempt('', () => format.read(readMembers(document, ''), reading))
  if (passedOver > 0)
    problem('', `The file has more than ${limits.maxServers} servers; ${counted(passedOver, 'is', 'are')} ignored (maxServers)`)
  // A server whose name is safe keeps it, even if an earlier server's name would be reduced to the same.
  const reserved = new Set(drafts.flatMap(({ name }) => (safeName(name) === name ? [name] : [])))
  const names = new Map<string, string>()
  const servers = drafts.map(({ name, draft }) => {
    const id = reserved.has(name) && !names.has(name) ? name : freeName(safeName(name), reserved)
    reserved.add(id)
    names.set(id, name)
    const used = inputsOf(draft, inputs)
    const title = draft.title ?? (id === name || name === '' ? undefined : safeText(name))
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

/** Whether the file is inside the project folder. */
function isUnder(project: string | undefined, file: string): boolean {
  if (project === undefined) return false
  const path = relative(resolve(project), resolve(file))
  return path !== '..' && !path.startsWith(`..${sep}`) && !isAbsolute(path)
}

/** The inputs that a server's placeholders use. An undeclared input is treated as a secret. */
function inputsOf(draft: ServerDraft, declared: ReadonlyMap<string, InputSpec>): InputSpec[] {
  const names = new Set(placeholdersIn(draft).flatMap(({ kind, name }) => (kind === 'input' ? [name] : [])))
  return [...names].map((id) => draft.inputs?.find((input) => input.id === id) ?? declared.get(id) ?? { id, isSecret: true })
}

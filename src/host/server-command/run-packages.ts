/** Finds the packages that a command fetches and runs, and the versions that a lock file pins. */

import { join } from 'node:path'
import { isObject } from '../../base/json.ts'
import { readPlainFile } from '../../files/plain-file.ts'
import { withDefaults } from '../../protocol/with-defaults.ts'
import type { StdioTransport } from '../model/server-spec.ts'
import { installedVersion } from './installed-version.ts'
import { familyOf, programName, splitArguments } from './interpreters.ts'
import { DEFAULT_ENTRY_FILE_LIMITS, type EntryFileFacts, folderOf } from './launch-context.ts'
import { packageRuns } from './runners.ts'

export interface RunPackage {
  /** As written, such as `some-server@1.2.3`. */
  spec: string
  name: string
  /** The command or a lock file names one version. */
  isPinned: boolean
  integrity: string | undefined
  /** Named by the command or a lock file, installed, or in a cache. Undefined: not known without the network. */
  version?: string | undefined
  /** The folder of the project that the version is installed in. Undefined: it is not installed in a project. */
  installedIn?: string
}

/** Finds the packages that npx, uvx and similar programs would fetch and run, also behind a wrapper and in shell code. */
export async function findPackages(transport: StdioTransport, facts: EntryFileFacts): Promise<RunPackage[]> {
  const own = familyOf(programName(transport.command))
  const { command, args: whole } = transport
  // Only a shell splits an argument. For the others, `a@1.2.3 || 9` is one range of versions.
  const runs = [[command, ...whole], ...(whole.some((arg) => /\s/.test(arg)) ? [[command, ...splitArguments(whole)]] : [])]
  // After an interpreter with a script, the words are arguments of the script.
  const mayRun =
    own === undefined ||
    own === 'shell' ||
    own === 'other' ||
    /^(?:npx|bunx|pnpx|uvx|npm|pnpm|yarn|bun|pipx|uv)$/.test(programName(transport.command))
  const found = new Map<string, RunPackage>()
  for (const { runner, args } of mayRun ? runs.flatMap((words) => packageRuns(words, programName)) : []) {
    for (const spec of packageSpecs(runner, args)) {
      // A folder is not a published package: its files are compared instead.
      if (found.has(spec) || /^(?:\.{0,2}\/|\.{1,2}$|file:|~)/.test(spec)) continue
      found.set(spec, await packageOf(spec, runner, transport, facts))
    }
  }
  return [...found.values()]
}

/** One version, and not a range such as `1.2.3 || 4` or `1.2.3 - 9`. */
const EXACT = /^\d+\.\d+\.\d+(?:[-+][0-9A-Za-z.+-]+)?$/

async function packageOf(spec: string, runner: string, transport: StdioTransport, facts: EntryFileFacts): Promise<RunPackage> {
  const [, name = spec, named = ''] = /^(@?[^@=]+)(?:@|==)?(.*)$/s.exec(spec) ?? []
  const isNamed = EXACT.test(named)
  const folder = folderOf(transport, facts)
  const installed = await installedVersion({ runner, spec, name, transport, facts })
  const locked = /^(?:uvx|pipx)$/.test(runner) ? {} : await readLocked(name, folder, facts)
  // If another version or none is installed, or the command asks for another one, something else runs than the lock file names.
  const isLocked =
    installed.installedIn === join(folder, 'node_modules') &&
    areSame(installed.version, locked.version) &&
    (named === '' || areSame(named, locked.version))
  const integrity = isLocked ? locked.integrity : undefined
  const found = isNamed ? { version: named } : installed
  return { spec, name, isPinned: integrity !== undefined || isNamed, integrity, ...found }
}

const areSame = (one: string | undefined, other: string | undefined): boolean => one !== undefined && one === other

/** Options that name the package of a run, and options that add packages to it. In uvx, `-p` names a version of Python. */
const OPTIONS = {
  node: { main: /^(?:-p|--package)$/, more: /^$/, other: /^$/ },
  python: { main: /^(?:--from|--spec)$/, more: /^(?:-w|--with)$/, other: /^(?:-p|--python)$/ },
}

/** All packages of one run. After an option that names the package, the first other word is a program of it. */
function packageSpecs(runner: string, args: readonly string[]): string[] {
  const { main, more, other } = OPTIONS[/^(?:uvx|pipx)$/.test(runner) ? 'python' : 'node']
  const named: string[] = []
  let hasMain = false
  for (let at = 0; at < args.length; at++) {
    const arg = args[at] as string
    if (!arg.startsWith('-')) return hasMain ? named : [arg, ...named]
    const [, option = arg, inline] = /^(--[^=]+|-[pw])=?(.+)?$/s.exec(arg) ?? []
    const isMain = main.test(option)
    const takesValue = isMain || more.test(option) || other.test(option)
    const value = takesValue ? (inline ?? args[++at]) : undefined
    if (value !== undefined && !other.test(option)) named.push(value)
    hasMain ||= isMain
  }
  return named
}

/** A package in the package-lock.json of the folder. */
async function readLocked(name: string, folder: string, facts: EntryFileFacts): Promise<{ integrity?: string; version?: string }> {
  const { maxLockBytes } = withDefaults(DEFAULT_ENTRY_FILE_LIMITS, facts.limits)
  try {
    const lock: unknown = JSON.parse((await readPlainFile(join(folder, 'package-lock.json'), maxLockBytes)).toString('utf8'))
    const packages = isObject(lock) && isObject(lock.packages) ? lock.packages : {}
    const key = `node_modules/${name}`
    const entry = Object.hasOwn(packages, key) ? packages[key] : undefined
    if (!isObject(entry) || typeof entry.integrity !== 'string' || typeof entry.version !== 'string') return {}
    return { integrity: entry.integrity, version: entry.version }
  } catch {
    return {}
  }
}

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
  const words = [transport.command, ...splitArguments(transport.args)]
  // After an interpreter with a script, the words are arguments of the script.
  const mayRun =
    own === undefined ||
    own === 'shell' ||
    own === 'other' ||
    /^(?:npx|bunx|pnpx|uvx|npm|pnpm|yarn|bun|pipx|uv)$/.test(programName(transport.command))
  const found = new Map<string, RunPackage>()
  for (const { runner, args } of mayRun ? packageRuns(words, programName) : []) {
    const spec = packageSpec(args)
    if (spec === undefined || found.has(spec)) continue
    // A folder is not a published package: its files are compared instead.
    if (/^(?:\.{0,2}\/|\.{1,2}$|file:|~)/.test(spec)) continue
    const [, name = spec, version] = /^(@?[^@=]+)(?:@|==)?(.*)$/.exec(spec) ?? []
    const locked = /^(?:uvx|pipx)$/.test(runner) ? {} : await readLocked(name, folderOf(transport, facts), facts)
    const { integrity } = locked
    const isNamed = /^\d+\.\d+\.\d+/.test(version ?? '')
    found.set(spec, {
      spec,
      name,
      isPinned: integrity !== undefined || isNamed,
      integrity,
      ...(isNamed
        ? { version }
        : locked.version
          ? { version: locked.version }
          : await installedVersion({ runner, spec, name, transport, facts })),
    })
  }
  return [...found.values()]
}

function packageSpec(args: readonly string[]): string | undefined {
  for (const [at, arg] of args.entries()) {
    if (arg === '-p' || arg === '--package' || arg === '--from') return args[at + 1]
    const [, inline] = /^--(?:package|from)=(.+)$/.exec(arg) ?? []
    if (inline !== undefined) return inline
    if (!arg.startsWith('-')) return arg
  }
  return undefined
}

/** A package in the package-lock.json of the folder. */
async function readLocked(name: string, folder: string, facts: EntryFileFacts): Promise<{ integrity?: string; version?: string }> {
  const { maxLockBytes } = withDefaults(DEFAULT_ENTRY_FILE_LIMITS, facts.limits)
  try {
    const lock: unknown = JSON.parse((await readPlainFile(join(folder, 'package-lock.json'), maxLockBytes)).toString('utf8'))
    const packages = isObject(lock) && isObject(lock.packages) ? lock.packages : {}
    const key = `node_modules/${name}`
    const entry = Object.hasOwn(packages, key) ? packages[key] : undefined
    if (!isObject(entry) || typeof entry.integrity !== 'string') return {}
    return { integrity: entry.integrity, ...(typeof entry.version === 'string' && { version: entry.version }) }
  } catch {
    return {}
  }
}

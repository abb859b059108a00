/** Finds the version of a package that a runner such as npx would use, without the network. */

import { createHash } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { isObject } from '../../base/json.ts'
import { readPlainFile } from '../../files/plain-file.ts'
import type { StdioTransport } from '../model/server-spec.ts'
import { type EntryFileFacts, folderOf } from './launch-context.ts'

export interface RunOfPackage {
  /** `npx`, `uvx` and so on. */
  runner: string
  /** As written, such as `some-server@latest`. */
  spec: string
  name: string
  transport: StdioTransport
  facts: EntryFileFacts
}

/** Empty if the package is neither installed nor in the cache of its runner. */
export async function installedVersion(run: RunOfPackage): Promise<{ version?: string | undefined; installedIn?: string }> {
  if (!isPackageName(run.name)) return {}
  if (/^(?:uvx|pipx)$/.test(run.runner)) return { version: run.runner === 'uvx' ? await uvToolVersion(run) : undefined }
  for (const installedIn of nodeModules(folderOf(run.transport, run.facts))) {
    const version = await manifestVersion(join(installedIn, run.name, 'package.json'))
    if (version !== undefined) return { version, installedIn }
  }
  const cache = npxCache(run)
  return cache === undefined ? {} : { version: await manifestVersion(join(cache, run.name, 'package.json')) }
}

/** The name becomes part of a path, so it must not lead to another folder. */
const isPackageName = (name: string): boolean =>
  /^(?:@[\w.-]+\/)?[\w.-]+$/.test(name) && !name.split('/').some((each) => /^\.+$/.test(each))

/** A package in the project is used before any other. */
function nodeModules(folder: string): string[] {
  const parent = dirname(folder)
  return [join(folder, 'node_modules'), ...(parent === folder ? [] : nodeModules(parent))]
}

/** npx installs each list of packages into a folder that is named after the list. */
function npxCache({ runner, spec, transport }: RunOfPackage): string | undefined {
  if (runner !== 'npx' && runner !== 'npm') return undefined
  const cache = variable(transport, 'npm_config_cache') ?? join(variable(transport, 'HOME') ?? homedir(), '.npm')
  const list = createHash('sha512').update(spec).digest('hex').slice(0, 16)
  return join(cache, '_npx', list, 'node_modules')
}

const variable = ({ env }: StdioTransport, name: string): string | undefined => env[name] ?? process.env[name]

const MAX_MANIFEST_BYTES = 1024 * 1024

async function manifestVersion(file: string): Promise<string | undefined> {
  try {
    const manifest: unknown = JSON.parse((await readPlainFile(file, MAX_MANIFEST_BYTES)).toString('utf8'))
    return isObject(manifest) && typeof manifest.version === 'string' ? manifest.version : undefined
  } catch {
    return undefined
  }
}

/** A tool that `uv tool install` installed. uvx keeps other tools in environments that no name leads to. */
async function uvToolVersion({ name, transport }: RunOfPackage): Promise<string | undefined> {
  const data = variable(transport, 'XDG_DATA_HOME') ?? join(variable(transport, 'HOME') ?? homedir(), '.local', 'share')
  const lib = join(variable(transport, 'UV_TOOL_DIR') ?? join(data, 'uv', 'tools'), name, 'lib')
  const wanted = name.toLowerCase().replace(/[-_.]+/g, '_')
  for (const python of await entries(lib)) {
    for (const entry of await entries(join(lib, python, 'site-packages'))) {
      const [, found, version] = /^(.+)-([^-]+)\.dist-info$/.exec(entry) ?? []
      if (found?.toLowerCase().replace(/[-_.]+/g, '_') === wanted) return version
    }
  }
  return undefined
}

const entries = (folder: string): Promise<string[]> => readdir(folder).catch(() => [])

/** Loads the server that a module exports. TypeScript needs no build step: Node removes the types, or tsx does. */

import { stat } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { asText } from '../../base/as-text.ts'
import { isObject } from '../../base/json.ts'
import type { Service } from '../../server/index.ts'
import { CommandFailure, UsageError } from '../errors.ts'

/** Whether the text means a file, and not the name of a bundled or configured server. */
export const isModulePath = (text: string): boolean => /[\\/]/.test(text) || /\.[cm]?[jt]sx?$/i.test(text)

/** The absolute path of a module. Throws UsageError if there is no such file. */
export async function modulePath(cwd: string, path: string): Promise<string> {
  const file = resolve(cwd, path)
  const about = await stat(file).catch(() => undefined)
  if (about?.isFile()) return file
  throw new UsageError(about ? `${path} is a folder` : `No such file: ${path}`, 'Give the file that exports your server')
}

/**
 * The server that the module exports as its default export or as `server`. Undefined if it exports none and serves on standard streams
 * already, with `serveStdio`.
 * @param path as the person typed it
 */
export async function loadServer(cwd: string, path: string): Promise<Service | undefined> {
  const file = await modulePath(cwd, path)
  if (/\.[cm]?tsx?$/i.test(file)) await prepareTypeScript(file, cwd)
  const exported: unknown = await import(pathToFileURL(file).href).catch((error: unknown) => {
    throw new CommandFailure(`Cannot load ${path}: ${describe(error)}`)
  })
  const found = candidatesIn(exported).find(isServer)
  if (found) return found
  if (servesStdio()) return undefined
  const names = namesIn(exported)
  throw new UsageError(
    `${path} exports no server; it exports ${names.length === 0 ? 'nothing' : names.join(', ')}`,
    'Export it: export default createServer({ ... }), or export const server = createServer({ ... })',
  )
}

/** Whether the module reads the messages of a client. */
const servesStdio = (): boolean => process.stdin.listenerCount('data') > 0 || process.stdin.listenerCount('readable') > 0

/** A CommonJS module has its exports in the default export. */
function candidatesIn(exported: unknown): unknown[] {
  const { default: main, server } = (exported ?? {}) as Record<string, unknown>
  const inner = (typeof main === 'object' && main !== null ? main : {}) as Record<string, unknown>
  return [main, server, inner.default, inner.server]
}

function namesIn(exported: unknown): string[] {
  const names = Object.keys(exported as object)
  const { default: main } = exported as { default?: unknown }
  return names.length === 1 && isObject(main) ? Object.keys(main) : names
}

const isServer = (value: unknown): value is Service =>
  typeof value === 'object' &&
  value !== null &&
  typeof (value as Partial<Service>).open === 'function' &&
  typeof (value as Partial<Service>).answer === 'function'

/** Makes `import` accept TypeScript. Throws UsageError if nothing on this machine can. */
async function prepareTypeScript(file: string, cwd: string): Promise<void> {
  // Since Node 22.18 types are removed without an option. tsx is better where it is installed: it also reads tsconfig paths and enums.
  const tsx = findTsx([file, resolve(cwd, 'package.json')])
  if (tsx === undefined) {
    if ((process.features as { typescript?: unknown }).typescript) return
    throw new UsageError(
      `Node ${process.versions.node} cannot load TypeScript without help: ${file}`,
      'Run "npm install -D tsx", or use Node 22.18 or later',
    )
  }
  await import(pathToFileURL(tsx).href)
}

/** The file that `node --import tsx` loads. It handles both kinds of modules. */
function findTsx(from: readonly string[]): string | undefined {
  for (const file of from) {
    try {
      return createRequire(file).resolve('tsx')
    } catch {
      // Not installed for this folder.
    }
  }
  return undefined
}

/** The place of a syntax error is only in its stack. */
function describe(error: unknown): string {
  if (!(error instanceof Error)) return asText(error)
  const { name, message, stack = '' } = error
  const [, place] = /at .*?\(?(file:\/\/\S+?:\d+:\d+|\/\S+?:\d+:\d+)\)?/.exec(stack) ?? []
  const shown = name === 'Error' ? message : `${name}: ${message}`
  return place === undefined || /node_modules|node:/.test(place) || shown.includes('ERROR:') ? shown : `${shown}\n  at ${place}`
}

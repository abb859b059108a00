/** Checks a folder before it becomes a root: it must exist, be readable, and have its real path. */

import { constants } from 'node:fs'
import { access, realpath, stat } from 'node:fs/promises'
import { basename, isAbsolute, normalize } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { asText } from '../../base/as-text.ts'
import { checkRoots } from '../../client/roots.ts'
import { McpError } from '../../protocol/errors.ts'

export interface ValidRoot {
  /** A file URI of `path`. */
  uri: string
  /** The real path, without links. */
  path: string
  name: string
}

/**
 * Resolves a file URI or an absolute path to its real directory, so that the question shows the real directory.
 * Throws ERR_CONFIG with the reason if it is not usable.
 */
export async function validRoot(given: string, name?: string): Promise<ValidRoot> {
  const path = pathOf(given)
  const real = await realpath(path).catch((cause: unknown) => {
    throw bad(given, 'there is no such directory', cause)
  })
  const fault = await findRootFault(real)
  if (fault !== undefined) throw bad(given, fault)
  return { uri: pathToFileURL(real).href, path: real, name: name ?? (basename(real) || real) }
}

/** Why a real path cannot be a root now. Undefined if it can. */
export async function findRootFault(path: string): Promise<string | undefined> {
  try {
    if ((await realpath(path)) !== path) return 'it is a link to somewhere else now'
    if (!(await stat(path)).isDirectory()) return 'it is not a directory'
  } catch {
    return 'there is no such directory'
  }
  try {
    await access(path, constants.R_OK | constants.X_OK)
    return undefined
  } catch {
    return 'you have no permission to read it'
  }
}

function pathOf(given: string): string {
  if (given.includes('\0')) throw bad(given, 'a path must not contain a NUL character')
  if (isAbsolute(given)) {
    // The person must see the real path, so `.` and `..` are not allowed.
    if (/(?:^|[/\\])\.{1,2}(?:[/\\]|$)/.test(given)) throw bad(given, 'it must not contain "." or ".." segments')
    return normalize(given)
  }
  if (!/^file:/i.test(given)) throw bad(given, 'expected a file URI or an absolute path')
  try {
    checkRoots([given])
    const url = new URL(given)
    if (url.host !== '' && url.host !== 'localhost') throw bad(given, `it is on another machine, ${JSON.stringify(url.host)}`)
    return fileURLToPath(url)
  } catch (cause) {
    throw cause instanceof McpError && cause.code === 'ERR_CONFIG' ? cause : bad(given, messageOf(cause), cause)
  }
}

const bad = (given: string, reason: string, cause?: unknown): McpError =>
  new McpError('ERR_CONFIG', `Not a root: ${JSON.stringify(given)}: ${reason}`, { cause })

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : asText(error))

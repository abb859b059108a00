/** Which folders may be used: the operator's, the client's, or, if both are given, their intersection. */

import type { Stats } from 'node:fs'
import { realpath, stat } from 'node:fs/promises'
import { basename, isAbsolute, join, resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { codeOf } from '../../files/private-file.ts'
import { McpError } from '../../protocol/errors.ts'
import { type Context, type Root, ToolError } from '../../server/index.ts'
import { HeldFolder, type HoldOptions, isWithin } from './held-folder.ts'

/** An allowed folder. */
export interface Folder {
  /** The real path, without links. */
  real: string
  /** The path as it was given. */
  given: string
  /** The first segment of relative paths if there are several folders. */
  label: string
}

/** A path in an allowed folder. It may or may not exist. */
export interface Spot {
  folder: Folder
  segments: string[]
}

/** The folders that the operator configured. Throws ERR_CONFIG for a path that is not a folder. */
export async function operatorFolders(paths: readonly string[]): Promise<Folder[]> {
  const folders: Folder[] = []
  for (const path of paths) {
    const found = await folderAt(resolve(path)).catch((cause: unknown) => {
      throw new McpError('ERR_CONFIG', `${path} cannot be served (${codeOf(cause) ?? 'unknown error'})`, { cause })
    })
    if (!found) throw new McpError('ERR_CONFIG', `${path} cannot be served: it is not a folder`)
    folders.push(found)
  }
  return labelled(folders)
}

/** The folders that this caller may use. Requests the client's roots if it supports them. */
export async function usableFolders(operator: readonly Folder[], ctx: Context): Promise<Folder[]> {
  if (!ctx.caller.capabilities.roots) {
    if (operator.length === 0)
      throw new ToolError('No folder is allowed: the server was started without folders, and the client has no roots')
    return [...operator]
  }
  const roots = await clientFolders(await ctx.roots())
  const shared = operator.length === 0 ? roots : intersection(operator, roots)
  if (shared.length > 0) return labelled(shared)
  throw new ToolError(
    roots.length === 0
      ? 'No folder is allowed: none of the roots of the client exists'
      : 'The roots of the client are outside the allowed folders of this server',
  )
}

/** Skips roots that do not exist or are not folders. */
async function clientFolders(roots: readonly Root[]): Promise<Folder[]> {
  const found = await Promise.all(
    roots.map(async ({ uri }) => {
      const path = pathOfUri(uri)
      return path === undefined ? undefined : await folderAt(path).catch(() => undefined)
    }),
  )
  return found.filter((each) => each !== undefined)
}

async function folderAt(given: string): Promise<Folder | undefined> {
  const real = await realpath(given)
  return (await stat(real)).isDirectory() ? { real, given, label: '' } : undefined
}

/** The inner folder of each pair in which one contains the other. */
function intersection(operator: readonly Folder[], roots: readonly Folder[]): Folder[] {
  const shared = new Map<string, Folder>()
  for (const one of operator) {
    for (const other of roots) {
      const inner = isWithin(one.real, other.real) ? other : isWithin(other.real, one.real) ? one : undefined
      if (inner) shared.set(inner.real, inner)
    }
  }
  return [...shared.values()]
}

/** Adds unique labels: the last part of the path, with a number for a duplicate. */
function labelled(folders: readonly Folder[]): Folder[] {
  const used = new Set<string>()
  return folders.map((folder) => {
    const name = basename(folder.real) || 'root'
    let label = name
    for (let i = 2; used.has(label); i++) label = `${name}-${i}`
    used.add(label)
    return { ...folder, label }
  })
}

/** The local path of a file URI. Undefined for other URIs. */
export function pathOfUri(uri: string): string | undefined {
  try {
    const url = new URL(uri)
    if (url.protocol !== 'file:' || (url.host !== '' && url.host !== 'localhost')) return undefined
    const path = fileURLToPath(new URL(`file://${url.pathname}`))
    return path.includes('\0') ? undefined : path
  } catch {
    return undefined
  }
}

/** Resolves a path from a model or a client to a place in one of the folders. Throws if it is outside. */
export function locate(folders: readonly Folder[], path: string): Spot {
  if (path.includes('\0')) throw new ToolError('A path cannot contain a NUL character')
  if (isAbsolute(path)) {
    const normal = join(path)
    for (const folder of folders) {
      const base = [folder.real, folder.given].find((each) => isWithin(each, normal))
      if (base !== undefined) return { folder, segments: segmentsOf(normal.slice(base.length)) }
    }
    throw outside(path)
  }
  const segments = segmentsOf(path)
  const [only] = folders
  if (folders.length === 1 && only) return { folder: only, segments }
  const folder = folders.find(({ label }) => label === segments[0])
  if (!folder)
    throw new ToolError(`${JSON.stringify(path)} must begin with one of the folders ${folders.map(({ label }) => label).join(', ')}`)
  return { folder, segments: segments.slice(1) }
}

function segmentsOf(path: string): string[] {
  const segments: string[] = []
  for (const segment of path.split(sep === '\\' ? /[\\/]/ : '/')) {
    if (segment === '' || segment === '.') continue
    if (segment !== '..') segments.push(segment)
    else if (segments.pop() === undefined) throw outside(path)
  }
  return segments
}

const outside = (path: string): ToolError => new ToolError(`${JSON.stringify(path.slice(0, 200))} is outside the allowed folders`)

/** The name of a place in answers. It never contains the real path of the folder. */
export const nameOf = ({ folder, segments }: Spot, folders: readonly Folder[]): string =>
  [...(folders.length > 1 ? [folder.label] : []), ...segments].join('/') || '.'

/** Holds the parent folder of a place while `act` runs. `name` is the last segment of the place. */
export async function within<T>(spot: Spot, options: HoldOptions, act: (parent: HeldFolder, name: string) => Promise<T>): Promise<T> {
  const name = spot.segments.at(-1)
  if (name === undefined) throw new ToolError('Expected a path inside an allowed folder, got the folder itself')
  const parent = await HeldFolder.open(spot.folder.real, spot.segments.slice(0, -1), options)
  try {
    return await act(parent, name)
  } finally {
    await parent.close()
  }
}

/** Turns a file system error into a text without real paths. */
export function readableError(error: unknown, name: string): unknown {
  const says = WORDS[codeOf(error) ?? '']
  return says === undefined ? error : new ToolError(`${name} ${says}`)
}

const WORDS: Record<string, string> = {
  ENOENT: 'does not exist, or one of its parent folders does not',
  ELOOP: 'is a link, or its path contains one; links are not followed',
  ENOTDIR: 'is not a folder, or its path contains a link or a file',
  EISDIR: 'is a folder',
  EEXIST: 'already exists',
  ENOTEMPTY: 'is a folder that is not empty',
  EACCES: 'is not accessible: permission denied',
  EPERM: 'is not accessible: permission denied',
  EROFS: 'is on a read-only disk',
  ENOSPC: 'does not fit on the disk; nothing was changed',
  EDQUOT: 'does not fit on the disk; nothing was changed',
  ENAMETOOLONG: 'has a name that is too long',
  EXDEV: 'is on another disk; copy it instead',
  EINVAL: 'cannot be moved there',
  ENXIO: 'is not a regular file',
  EBUSY: 'is in use',
}

export const modifiedAt = (stats: Stats): string => stats.mtime.toISOString()

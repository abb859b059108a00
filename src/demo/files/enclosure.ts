/** Which folders may be used: the operator's, the client's, or, if both are given, their intersection. */

import type { Stats } from 'node:fs'
import { realpath, stat } from 'node:fs/promises'
import { basename, isAbsolute, join, resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { codeOf } from '../../files/private-file.ts'
import { McpError } from '../../protocol/errors.ts'
import { type Context, type Root, ToolError } from '../../server/index.ts'
import { HeldFolder, type HoldOptions, isWithin } from './held-folder.ts'

/** A folder that may be used. */
export interface Folder {
  /** With no link in it. */
  real: string
  /** As somebody has written it. */
  given: string
  /** The first part of paths when there are several folders. */
  label: string
}

/** Something in a folder that may be used, by name alone: it was not looked at. */
export interface Spot {
  folder: Folder
  segments: string[]
}

/** The folders given when the server was started. Throws ERR_CONFIG for what is none. */
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

/** What this caller may use. Asks for its roots when it has some. */
export async function usableFolders(operator: readonly Folder[], ctx: Context): Promise<Folder[]> {
  if (!ctx.caller.capabilities.roots) {
    if (operator.length === 0)
      throw new ToolError('No folder may be used: none was given when the server was started, and the client gives no roots')
    return [...operator]
  }
  const roots = await clientFolders(await ctx.roots())
  const shared = operator.length === 0 ? roots : intersection(operator, roots)
  if (shared.length > 0) return labelled(shared)
  throw new ToolError(
    roots.length === 0
      ? 'The client gives no root that is there; no folder may be used'
      : 'The roots of the client lie outside of the folders that this server may use',
  )
}

/** Roots that are gone, or never were folders, are left out: the others can be used all the same. */
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

/** Of two folders, one within the other, the inner. */
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

/** Names to tell them apart by: of two that end alike, the second gets a number. */
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

/** Undefined unless it is a file URI of this machine. */
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

/** From what a model or a client has written to a place in one of the folders. Throws for what is in none. */
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

const outside = (path: string): ToolError =>
  new ToolError(`${JSON.stringify(path.slice(0, 200))} is outside of the folders that may be used`)

/** How a place is called in answers: never by where the folder is on this machine. */
export const nameOf = ({ folder, segments }: Spot, folders: readonly Folder[]): string =>
  [...(folders.length > 1 ? [folder.label] : []), ...segments].join('/') || '.'

/** Holds the folder that a place is in while `act` runs, and gives it the place's own name in it. */
export async function within<T>(spot: Spot, options: HoldOptions, act: (parent: HeldFolder, name: string) => Promise<T>): Promise<T> {
  const name = spot.segments.at(-1)
  if (name === undefined) throw new ToolError('The folder that may be used cannot itself be meant here')
  const parent = await HeldFolder.open(spot.folder.real, spot.segments.slice(0, -1), options)
  try {
    return await act(parent, name)
  } finally {
    await parent.close()
  }
}

/** The fault of the file system as a model may read it. */
export function told(error: unknown, name: string): unknown {
  const says = WORDS[codeOf(error) ?? '']
  return says === undefined ? error : new ToolError(`${name} ${says}`)
}

const WORDS: Record<string, string> = {
  ENOENT: 'is not there, or a folder on the way to it is not',
  ELOOP: 'is a link, or is reached through one; links are not followed',
  ENOTDIR: 'is no folder, or is reached through something that is none, such as a link',
  EISDIR: 'is a folder',
  EEXIST: 'is there already',
  ENOTEMPTY: 'is a folder that is not empty',
  EACCES: 'may not be used by this server',
  EPERM: 'may not be used by this server',
  EROFS: 'is on a disk that cannot be written to',
  ENOSPC: 'does not fit on the disk; nothing was changed',
  EDQUOT: 'does not fit on the disk; nothing was changed',
  ENAMETOOLONG: 'has too long a name',
  EXDEV: 'is on another disk; copy it instead',
  EINVAL: 'cannot be moved there',
  ENXIO: 'is no plain file',
  EBUSY: 'is in use',
}

export const modifiedAt = (stats: Stats): string => stats.mtime.toISOString()

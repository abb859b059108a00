/** Lists all files below a folder. Follows no symbolic links, and stops at its limits. */

import type { Dirent } from 'node:fs'
import { opendir } from 'node:fs/promises'
import { join } from 'node:path'
import { McpError } from '../../protocol/errors.ts'

/** Deeper folders are not needed, and a loop of mounted folders ends here. */
const MAX_DEPTH = 16

export interface FolderContent {
  /** Paths with `/`, relative to the folder. */
  files: readonly string[]
  /** Includes '' for the folder itself. */
  folders: readonly string[]
  /** Entries that a skill cannot contain. */
  faults: readonly { path: string; text: string }[]
}

/** @throws McpError ERR_LIMIT */
export async function walkFolder(root: string, maxEntries: number): Promise<FolderContent> {
  const files: string[] = []
  const folders: string[] = []
  const faults: { path: string; text: string }[] = []
  let entries = 0
  const visit = async (folder: string, depth: number): Promise<void> => {
    folders.push(folder)
    const inside: Dirent[] = []
    for await (const entry of await opendir(join(root, folder))) {
      if (entry.name.startsWith('.')) continue
      if (++entries > maxEntries) throw new McpError('ERR_LIMIT', `${root} has more than ${maxEntries} files and folders (maxEntries)`)
      inside.push(entry)
    }
    inside.sort((a, b) => (a.name < b.name ? -1 : 1))
    for (const entry of inside) {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`
      // A name that is not UTF-8 arrives with this character, and cannot be opened.
      if (entry.name.includes('\u{fffd}')) faults.push({ path, text: 'has a name that is not UTF-8' })
      else if (entry.isFile()) files.push(path)
      else if (!entry.isDirectory()) faults.push({ path, text: entry.isSymbolicLink() ? LINK : 'is neither a file nor a folder' })
      else if (depth >= MAX_DEPTH) faults.push({ path, text: `is more than ${MAX_DEPTH} folders deep` })
      // A folder that has just been removed is simply not there.
      else await visit(path, depth + 1).catch(ignoreMissing)
    }
  }
  await visit('', 0)
  return { files, folders, faults }
}

const LINK = 'is a symbolic link; a skill can contain only files and folders'

function ignoreMissing(error: unknown): void {
  if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
}

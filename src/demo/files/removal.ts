/** Removes a folder with its contents through held folders. Links are removed, their targets are not. */

import { rmdir, unlink } from 'node:fs/promises'
import type { HeldFolder } from './held-folder.ts'
import { entriesOf, type WalkOptions } from './walk.ts'

export async function removeFolder(parent: HeldFolder, name: string, options: Pick<WalkOptions, 'visited' | 'signal'>): Promise<void> {
  const folder = await parent.enter(name)
  try {
    for (const entry of await entriesOf(folder, options)) {
      options.signal.throwIfAborted()
      if (entry.kind === 'folder') await removeFolder(folder, entry.name, options)
      else await unlink(folder.at(entry.name))
    }
  } finally {
    await folder.close()
  }
  await rmdir(parent.at(name))
}

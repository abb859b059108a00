/** Everything below a folder, held folder by held folder; links are named and not followed. */

import { opendir } from 'node:fs/promises'
import { ToolError } from '../../server/index.ts'
import { type HeldFolder, type Kind, kindOf } from './held-folder.ts'

export interface Found {
  /** Held while it is looked at, and no longer. */
  parent: HeldFolder
  name: string
  kind: Kind
}

export interface WalkOptions {
  maxDepth: number
  /** Counts what is looked at, over several walks. */
  visited: { count: number; readonly max: number }
  signal: AbortSignal
}

/** Folders before what is in them; names in order. Throws when there are more than may be looked at. */
export async function* walk(folder: HeldFolder, options: WalkOptions): AsyncGenerator<Found> {
  for (const { name, kind } of await entriesOf(folder, options)) {
    options.signal.throwIfAborted()
    yield { parent: folder, name, kind }
    if (kind !== 'folder' || options.maxDepth <= 1) continue
    const inner = await folder.enter(name).catch(() => undefined)
    // Gone by now, or not to be looked into.
    if (!inner) continue
    try {
      yield* walk(inner, { ...options, maxDepth: options.maxDepth - 1 })
    } finally {
      await inner.close()
    }
  }
}

export async function entriesOf(
  folder: HeldFolder,
  { visited, signal }: Pick<WalkOptions, 'visited' | 'signal'>,
): Promise<{ name: string; kind: Kind }[]> {
  const entries: { name: string; kind: Kind }[] = []
  for await (const entry of await opendir(folder.here)) {
    signal.throwIfAborted()
    if (++visited.count > visited.max) throw new ToolError(`There are more than ${visited.max} entries (maxVisited); name a smaller folder`)
    entries.push({ name: entry.name, kind: kindOf(entry) })
  }
  await folder.check()
  return entries.sort((a, b) => (a.name < b.name ? -1 : 1))
}

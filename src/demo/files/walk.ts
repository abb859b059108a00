/** Lists everything below a folder through held folders. Links are listed and not followed. */

import { opendir } from 'node:fs/promises'
import { ToolError } from '../../server/index.ts'
import { type HeldFolder, type Kind, kindOf } from './held-folder.ts'

export interface Found {
  /** Held open only until the next entry is requested. */
  parent: HeldFolder
  name: string
  kind: Kind
}

export interface WalkOptions {
  maxDepth: number
  /** Counts the visited entries, for several walks together. */
  visited: { count: number; readonly max: number }
  signal: AbortSignal
}

/** Yields a folder before its entries, sorted by name. Throws if there are more entries than `visited.max`. */
export async function* walk(folder: HeldFolder, options: WalkOptions): AsyncGenerator<Found> {
  for (const { name, kind } of await entriesOf(folder, options)) {
    options.signal.throwIfAborted()
    yield { parent: folder, name, kind }
    if (kind !== 'folder' || options.maxDepth <= 1) continue
    const inner = await folder.enter(name).catch(() => undefined)
    // Removed in the meantime, or not accessible.
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
    if (++visited.count > visited.max)
      throw new ToolError(`There are more than ${visited.max} entries (maxVisited); choose a smaller folder`)
    entries.push({ name: entry.name, kind: kindOf(entry) })
  }
  await folder.check()
  return entries.sort((a, b) => (a.name < b.name ? -1 : 1))
}

/** Searches names or contents for plain text. Regular expressions are not supported, because one can run forever. */

import type { Context } from '../../server/index.ts'
import { decodeText, readWhole } from './contents.ts'
import type { HeldFolder } from './held-folder.ts'
import type { FilesLimits } from './limits.ts'
import { walk } from './walk.ts'

export interface Wanted {
  query: string
  where: 'content' | 'name'
  matchCase: boolean
  /** Only entries whose name has this ending. */
  suffix: string
  limit: number
}

export interface Match {
  path: string
  line?: number
  text?: string
}

export interface Outcome {
  matches: Match[]
  /** Whether a limit ended the search, so that there may be more matches. */
  isCut: boolean
  /** Number of files that were not searched: too large, not text, or not accessible. */
  skipped: number
}

const MAX_LINE = 300
const PROGRESS_EVERY = 100

/** Searches one folder. `counts` is shared by all folders of one call. */
export async function search(
  folder: HeldFolder,
  wanted: Wanted,
  counts: { visited: { count: number; readonly max: number }; bytes: number; seen: number },
  {
    limits,
    nameOf,
    ctx,
  }: { limits: FilesLimits; nameOf: (parent: HeldFolder, name: string) => string; ctx: Pick<Context, 'signal' | 'progress'> },
): Promise<Outcome> {
  const outcome: Outcome = { matches: [], isCut: false, skipped: 0 }
  const fold = (text: string): string => (wanted.matchCase ? text : text.toLowerCase())
  const query = fold(wanted.query)
  for await (const { parent, name, kind } of walk(folder, { maxDepth: limits.maxDepth, visited: counts.visited, signal: ctx.signal })) {
    if (++counts.seen % PROGRESS_EVERY === 0) await ctx.progress(counts.seen, undefined, nameOf(parent, name))
    if (!name.endsWith(wanted.suffix)) continue
    const room = wanted.limit - outcome.matches.length
    if (room <= 0 || counts.bytes > limits.maxSearchBytes) return { ...outcome, isCut: true }
    if (wanted.where === 'name') {
      if (fold(name).includes(query)) outcome.matches.push({ path: nameOf(parent, name) })
    } else if (kind === 'file') {
      const text = await textOf(parent, name, limits.maxFileBytes)
      if (text === undefined) outcome.skipped++
      else {
        counts.bytes += text.length
        const lines = linesWith(query, text, fold, room + 1)
        outcome.matches.push(...lines.slice(0, room).map((found) => ({ path: nameOf(parent, name), ...found })))
        if (lines.length > room) return { ...outcome, isCut: true }
      }
    }
  }
  return outcome
}

async function textOf(parent: HeldFolder, name: string, maxBytes: number): Promise<string | undefined> {
  const file = await parent.openFile(name).catch(() => undefined)
  if (!file) return undefined
  try {
    const bytes = await readWhole(file.handle, maxBytes)
    return bytes && decodeText(bytes)
  } finally {
    await file.handle.close()
  }
}

function linesWith(query: string, text: string, fold: (text: string) => string, room: number): { line: number; text: string }[] {
  // A fast check first: most files do not contain the text.
  if (!fold(text).includes(query)) return []
  const found: { line: number; text: string }[] = []
  let number = 0
  // Line by line: an array of many short lines takes several times the memory of the text.
  for (let from = 0; from <= text.length && found.length < room; ) {
    const end = text.indexOf('\n', from)
    const line = text.slice(from, end < 0 ? text.length : end)
    from = end < 0 ? text.length + 1 : end + 1
    number++
    const at = fold(line).indexOf(query)
    if (at < 0) continue
    const start = Math.max(0, at - MAX_LINE / 2)
    found.push({ line: number, text: line.slice(start, start + MAX_LINE) })
  }
  return found
}

/** The read-only tools: read, list, stat, search. */

import { embed, image, type Server, ToolError, text } from '../../server/index.ts'
import { allRequired, object } from '../schema.ts'
import type { Area, Place } from './area.ts'
import { decodeText, hashOf, readRange, readWhole } from './contents.ts'
import { modifiedAt, nameOf, within } from './enclosure.ts'
import { type HeldFolder, kindOf } from './held-folder.ts'
import { mimeTypeOf } from './mime-type.ts'
import { type Outcome, search } from './search.ts'
import { walk } from './walk.ts'

export const PATH = { type: 'string', maxLength: 4096, description: 'Path in an allowed folder, relative or absolute' } as const
const HINTS = { readOnlyHint: true, openWorldHint: false } as const
const KIND = { type: 'string', enum: ['file', 'folder', 'link', 'other'] } as const
const STAT = { path: { type: 'string' }, kind: KIND, size: { type: 'integer' }, modified: { type: 'string' } } as const

export function addReadingTools(server: Server, area: Area): void {
  addRead(server, area)
  addList(server, area)
  addStat(server, area)
  addSearch(server, area)
}

const READ = object(
  {
    path: { type: 'string' },
    size: { type: 'integer' },
    mimeType: { type: 'string' },
    hash: { type: 'string', description: 'Pass it to write or edit, so that no other change is lost' },
    isCut: { type: 'boolean', description: 'Whether this is only a part of the file' },
    text: { type: 'string' },
    base64: { type: 'string' },
  },
  'path',
  'size',
  'mimeType',
  'isCut',
)

interface Range {
  offset?: number
  length?: number
  line?: number
  lines?: number
}

function addRead(server: Server, area: Area): void {
  const input = object(
    {
      path: PATH,
      offset: { type: 'integer', minimum: 0, description: 'First byte, from 0' },
      length: { type: 'integer', minimum: 0, description: 'Number of bytes' },
      line: { type: 'integer', minimum: 1, description: 'First line of a text file, from 1' },
      lines: { type: 'integer', minimum: 1, description: 'Number of lines' },
    },
    'path',
  )
  const description = 'Returns the content of a file, or a range of bytes or lines'
  server.tool('read', { title: 'Read a file', description, input, output: READ, annotations: HINTS }, ({ path, ...range }, ctx) => {
    const isByLine = range.line !== undefined || range.lines !== undefined
    if (isByLine && (range.offset !== undefined || range.length !== undefined))
      throw new ToolError('Expected a range of bytes or of lines, got both')
    return area.go(path, ctx, (place) => within(place.spot, area.hold, (parent, name) => readFile(area, place, { parent, name }, range)))
  })
}

async function readFile(area: Area, place: Place, { parent, name }: { parent: HeldFolder; name: string }, range: Range) {
  const { handle, stats } = await parent.openFile(name)
  try {
    const { maxReadBytes, maxFileBytes } = area.limits
    const whole = await readWhole(handle, maxFileBytes)
    const part = whole
      ? rangeOf(whole, range, maxReadBytes)
      : await rangeOfLarge(range, (from, length) => readRange(handle, from, Math.min(length, maxReadBytes)))
    const bytes = cutToCharacters(part)
    const found = decodeText(bytes)
    const mimeType = mimeTypeOf(name, found !== undefined)
    const about = {
      path: place.name,
      size: whole?.length ?? stats.size,
      mimeType,
      isCut: bytes.length < (whole?.length ?? stats.size),
      ...(whole && { hash: hashOf(whole) }),
    }
    if (found !== undefined) return { content: [text(found)], structuredContent: { ...about, text: found } }
    const base64 = bytes.toString('base64')
    const block =
      mimeType.startsWith('image/') && !about.isCut ? image(base64, mimeType) : embed(`file:///${encodeURI(place.name)}`, bytes, mimeType)
    return { content: [block], structuredContent: { ...about, base64 } }
  } finally {
    await handle.close()
  }
}

function rangeOf(whole: Buffer, { offset = 0, length, line, lines }: Range, maxBytes: number): Buffer {
  if (line === undefined && lines === undefined) return whole.subarray(offset, offset + Math.min(length ?? maxBytes, maxBytes))
  let start = 0
  for (let i = 1; i < (line ?? 1); i++) {
    const end = whole.indexOf(0x0a, start)
    if (end < 0) throw new ToolError(`There is no line ${line}; the last line is ${i}`)
    start = end + 1
  }
  let end = start
  for (let i = 0; i < (lines ?? Number.POSITIVE_INFINITY) && end < whole.length; i++) {
    const next = whole.indexOf(0x0a, end)
    end = next < 0 ? whole.length : next + 1
  }
  return whole.subarray(start, Math.min(end, start + maxBytes))
}

async function rangeOfLarge(
  { offset = 0, length, line, lines }: Range,
  read: (from: number, length: number) => Promise<Buffer>,
): Promise<Buffer> {
  if (line !== undefined || lines !== undefined)
    throw new ToolError('The file is too large for a range of lines (maxFileBytes); use a range of bytes')
  return read(offset, length ?? Number.MAX_SAFE_INTEGER)
}

/** Drops an incomplete character at the end of a range, so that the rest is still text. */
function cutToCharacters(bytes: Buffer): Buffer {
  for (let cut = 0; cut < 4 && cut < bytes.length; cut++) {
    const shorter = bytes.subarray(0, bytes.length - cut)
    if (decodeText(shorter) !== undefined) return shorter
  }
  return bytes
}

function addList(server: Server, area: Area): void {
  const entry = object(STAT, 'path', 'kind')
  const input = object({
    path: PATH,
    depth: { type: 'integer', minimum: 1, maximum: 10, description: 'Levels of folders. Default: 1' },
    offset: { type: 'integer', minimum: 0 },
    limit: { type: 'integer', minimum: 1, maximum: area.limits.maxEntries },
  })
  const output = allRequired({ entries: { type: 'array', items: entry }, hasMore: { type: 'boolean' } })
  const description = 'Lists the entries of a folder. Without a path: the allowed folder, or the names of several allowed folders'
  server.tool(
    'list',
    { title: 'List a folder', description, input, output, annotations: HINTS },
    async ({ path, depth = 1, offset = 0, limit = area.limits.maxEntries }, ctx) => {
      if (path === undefined) {
        const folders = await area.folders(ctx)
        if (folders.length > 1) return { entries: folders.map(({ label }) => ({ path: label, kind: 'folder' as const })), hasMore: false }
      }
      return area.go(path ?? '.', ctx, ({ spot, folders }) =>
        area.enter(spot, async (held) => {
          const visited = { count: 0, max: area.limits.maxVisited }
          const entries: { path: string; kind: 'file' | 'folder' | 'link' | 'other'; size?: number; modified?: string }[] = []
          let index = 0
          for await (const { parent, name, kind } of walk(held, { maxDepth: depth, visited, signal: ctx.signal })) {
            if (index++ < offset) continue
            if (entries.length === limit) return { entries, hasMore: true }
            const stats = await parent.look(name).catch(() => undefined)
            const called = nameOf({ folder: spot.folder, segments: [...parent.segments, name] }, folders)
            entries.push({ path: called, kind, ...(stats && { size: stats.size, modified: modifiedAt(stats) }) })
          }
          return { entries, hasMore: false }
        }),
      )
    },
  )
}

function addStat(server: Server, area: Area): void {
  const output = object({ ...STAT, mode: { type: 'string' }, isHardLinked: { type: 'boolean' } }, 'path', 'kind')
  const description = 'Shows the kind (file, folder, link), the size and the modification time of an entry'
  server.tool(
    'stat',
    { title: 'Show file details', description, input: allRequired({ path: PATH }), output, annotations: HINTS },
    ({ path }, ctx) =>
      area.go(path, ctx, async ({ spot, name: called }) => {
        const stats =
          spot.segments.length === 0
            ? await area.enter(spot, (held) => held.handle.stat())
            : await within(spot, area.hold, (parent, name) => parent.look(name))
        const mode = (stats.mode & 0o777).toString(8).padStart(3, '0')
        return {
          path: called,
          kind: kindOf(stats),
          size: stats.size,
          modified: modifiedAt(stats),
          mode,
          isHardLinked: stats.isFile() && stats.nlink > 1,
        }
      }),
  )
}

function addSearch(server: Server, area: Area): void {
  const match = object({ path: { type: 'string' }, line: { type: 'integer' }, text: { type: 'string' } }, 'path')
  const output = allRequired({ matches: { type: 'array', items: match }, isCut: { type: 'boolean' }, skipped: { type: 'integer' } })
  const input = object(
    {
      query: { type: 'string', minLength: 1, maxLength: 1000, description: 'Plain text, not a regular expression' },
      path: { ...PATH, description: 'The folder to search. Default: all allowed folders' },
      in: { type: 'string', enum: ['content', 'name'], description: 'Where to search. Default: content' },
      matchCase: { type: 'boolean' },
      suffix: { type: 'string', maxLength: 100, description: 'Only names with this ending, for example .md' },
      limit: { type: 'integer', minimum: 1, maximum: area.limits.maxMatches },
    },
    'query',
  )
  const description = 'Searches for text in files, with line numbers, or in file names'
  server.tool('search', { title: 'Search files', description, input, output, annotations: HINTS }, async ({ path, query, ...how }, ctx) => {
    const wanted = { query, where: how.in ?? 'content', matchCase: how.matchCase ?? false, suffix: how.suffix ?? '' } as const
    const limit = how.limit ?? area.limits.maxMatches
    const counts = { visited: { count: 0, max: area.limits.maxVisited }, bytes: 0, seen: 0 }
    const all: Outcome = { matches: [], isCut: false, skipped: 0 }
    const paths = path === undefined ? (await area.folders(ctx)).map(({ real }) => real) : [path]
    for (const each of paths) {
      const found = await area.go(each, ctx, ({ spot, folders }) =>
        area.enter(spot, (held) =>
          search(held, { ...wanted, limit: limit - all.matches.length }, counts, {
            limits: area.limits,
            nameOf: (parent, name) => nameOf({ folder: spot.folder, segments: [...parent.segments, name] }, folders),
            ctx,
          }),
        ),
      )
      all.matches.push(...found.matches)
      all.isCut ||= found.isCut
      all.skipped += found.skipped
    }
    return all
  })
}

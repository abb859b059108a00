/** The tools that change files: write, edit, move, remove. */

import { rename, rm, unlink } from 'node:fs/promises'
import { counted } from '../../base/text/counted.ts'
import { codeOf } from '../../files/private-file.ts'
import { type Context, type Server, ToolError } from '../../server/index.ts'
import { allRequired, object } from '../schema.ts'
import type { Area, Place } from './area.ts'
import { decodeText, hashOf, readOld, renameNew, replaceFile } from './contents.ts'
import { applyEdits, makeDiff } from './editing.ts'
import { locate, nameOf, readableError, within } from './enclosure.ts'
import { HeldFolder, kindOf } from './held-folder.ts'
import { PATH } from './reading-tools.ts'
import { removeFolder } from './removal.ts'
import { walk } from './walk.ts'

const HASH = {
  type: 'string',
  pattern: '^[0-9a-f]{64}$',
  description: 'The hash from read; the call fails if the file was changed since then',
} as const
const HINTS = { destructiveHint: true, openWorldHint: false } as const

export function addWritingTools(server: Server, area: Area): void {
  addWrite(server, area)
  addEdit(server, area)
  addMove(server, area)
  addRemove(server, area)
}

function addWrite(server: Server, area: Area): void {
  const input = object(
    {
      path: PATH,
      content: { type: 'string', description: 'The complete new content' },
      encoding: { type: 'string', enum: ['utf8', 'base64'], description: 'Encoding of the content. Default: utf8' },
      hash: HASH,
      overwrite: { type: 'boolean', description: 'Replaces an existing file without a hash. Default: false' },
      createFolders: { type: 'boolean', description: 'Creates missing parent folders. Default: false' },
    },
    'path',
    'content',
  )
  const output = allRequired({ path: { type: 'string' }, size: { type: 'integer' }, hash: { type: 'string' }, isNew: { type: 'boolean' } })
  const description = 'Writes a complete file. To replace an existing file, give its hash or set overwrite'
  server.tool(
    'write',
    { title: 'Write a file', description, input, output, annotations: { ...HINTS, idempotentHint: true } },
    (args, ctx) => {
      const bytes = bytesOf(args.content, args.encoding ?? 'utf8')
      checkSize(area, bytes)
      return area.go(args.path, ctx, (place) =>
        area.inTurn(place.spot, async () => {
          if (args.createFolders) await makeFolders(area, place)
          return within(place.spot, area.hold, async (parent, name) => {
            const old = await readOld(parent, name, area.limits.maxFileBytes)
            if (args.hash !== undefined) checkHash(place, old?.bytes, args.hash)
            else if (old && !args.overwrite)
              throw new ToolError(`${place.name} already exists; read it and pass its hash, or set overwrite`)
            await replaceFile(parent, name, bytes, old ? { kind: 'anything', mode: old.mode } : { kind: 'nothing' })
            return { path: place.name, size: bytes.length, hash: hashOf(bytes), isNew: old === undefined }
          })
        }),
      )
    },
  )
}

function addEdit(server: Server, area: Area): void {
  const edit = object({ old: { type: 'string', minLength: 1 }, new: { type: 'string' }, all: { type: 'boolean' } }, 'old', 'new')
  const input = object(
    {
      path: PATH,
      edits: {
        type: 'array',
        items: edit,
        minItems: 1,
        maxItems: 100,
        description: 'Each replaces a text that must occur exactly once, or every occurrence if all is set',
      },
      hash: HASH,
      dryRun: { type: 'boolean', description: 'Shows the changes without making them. Default: false' },
    },
    'path',
    'edits',
  )
  const output = allRequired({ path: { type: 'string' }, hash: { type: 'string' }, diff: { type: 'string' }, isDone: { type: 'boolean' } })
  const description = 'Replaces exact texts in a file and shows the changes. If one edit fails, none is made'
  server.tool(
    'edit',
    { title: 'Edit a file', description, input, output, annotations: HINTS },
    ({ path, edits, hash, dryRun = false }, ctx) =>
      area.go(path, ctx, (place) =>
        area.inTurn(place.spot, () =>
          within(place.spot, area.hold, async (parent, name) => {
            const old = await readOld(parent, name, area.limits.maxFileBytes)
            if (!old) throw new ToolError(`${place.name} does not exist`)
            if (hash !== undefined) checkHash(place, old.bytes, hash)
            const before = decodeText(old.bytes)
            if (before === undefined) throw new ToolError(`${place.name} is not a text file`)
            const after = applyEdits(before, edits, area.limits.maxFileBytes)
            const bytes = Buffer.from(after)
            checkSize(area, bytes)
            if (!dryRun) await replaceFile(parent, name, bytes, { kind: 'anything', mode: old.mode })
            return { path: place.name, hash: hashOf(dryRun ? old.bytes : bytes), diff: makeDiff(before, after), isDone: !dryRun }
          }),
        ),
      ),
  )
}

function addMove(server: Server, area: Area): void {
  const input = object(
    { from: PATH, to: PATH, overwrite: { type: 'boolean', description: 'Replaces an existing file. Default: false' } },
    'from',
    'to',
  )
  const description = 'Moves or renames a file or a folder'
  server.tool('move', { title: 'Move a file', description, input, annotations: HINTS }, ({ from, to, overwrite = false }, ctx) =>
    area.go(from, ctx, async (place) => {
      const spot = locate(place.folders, to)
      const target = { ...place, spot, name: nameOf(spot, place.folders) }
      try {
        await within(place.spot, area.hold, (source, oldName) =>
          within(spot, area.hold, (parent, newName) =>
            moveEntry({ source, oldName, parent, newName }, { from: place, to: target, overwrite }),
          ),
        )
      } catch (error) {
        throw readableError(error, `${place.name} or ${target.name}`)
      }
      return `${place.name} is now ${target.name}`
    }),
  )
}

async function moveEntry(
  { source, oldName, parent, newName }: { source: HeldFolder; oldName: string; parent: HeldFolder; newName: string },
  { from, to, overwrite }: { from: Place; to: Place; overwrite: boolean },
): Promise<void> {
  const stats = await source.look(oldName)
  const kind = kindOf(stats)
  if (kind === 'file') source.checkFile(stats, oldName)
  else if (kind !== 'folder') throw new ToolError(`${from.name} is a link or another special file, which cannot be moved`)
  const there = await lookFor(parent, newName)
  if (there && (!overwrite || kind !== 'file')) throw new ToolError(`${to.name} already exists`)
  if (there) parent.checkFile(there, newName)
  await Promise.all([source.check(), parent.check()])
  if (there || kind === 'folder') return rename(source.at(oldName), parent.at(newName))
  await renameNew(source.at(oldName), parent.at(newName))
  await rm(source.at(oldName), { force: true })
}

function addRemove(server: Server, area: Area): void {
  const input = object(
    { path: PATH, recursive: { type: 'boolean', description: 'Removes a folder with all its contents. Default: false' } },
    'path',
  )
  const description = 'Permanently removes a file, a link or a folder. Asks the person first if the client supports it'
  server.tool('remove', { title: 'Remove a file', description, input, annotations: HINTS }, ({ path, recursive = false }, ctx) =>
    area.go(path, ctx, async (place) => {
      const count = await within(place.spot, area.hold, (parent, name) => countEntries(area, parent, name, ctx))
      if (count > 0 && !recursive)
        throw new ToolError(
          `${place.name} is a folder with ${counted(count, 'entry', 'entries')}; set recursive to remove it with its contents`,
        )
      await confirmRemoval(place, count, ctx)
      await ctx.once('remove', () =>
        area.inTurn(place.spot, () =>
          within(place.spot, area.hold, (parent, name) => removeEntry(area, parent, name, { isCounted: count > 0, signal: ctx.signal })),
        ),
      )
      return `${place.name} was removed${count > 0 ? `, with ${counted(count, 'entry', 'entries')} in it` : ''}`
    }),
  )
}

async function confirmRemoval({ name }: Place, count: number, ctx: Context): Promise<void> {
  if (!ctx.caller.capabilities.elicitation?.form) return
  const what = count > 0 ? `${name} and the ${counted(count, 'entry', 'entries')} in it` : name
  const sure = { type: 'boolean', title: 'Remove permanently', default: false } as const
  const answer = await ctx.elicit('confirm', `Remove ${what}? This cannot be undone.`, allRequired({ sure }))
  if (!answer.sure) throw new ToolError('The person did not confirm the removal; nothing was removed')
}

/** How many entries a folder has, including subfolders. 0 if it is not a folder. */
async function countEntries(area: Area, parent: HeldFolder, name: string, { signal }: Context): Promise<number> {
  if (!(await parent.look(name)).isDirectory()) return 0
  const folder = await parent.enter(name)
  try {
    const visited = { count: 0, max: area.limits.maxVisited }
    for await (const _ of walk(folder, { maxDepth: area.limits.maxDepth, visited, signal }));
    return visited.count
  } finally {
    await folder.close()
  }
}

async function removeEntry(
  area: Area,
  parent: HeldFolder,
  name: string,
  { isCounted, signal }: { isCounted: boolean; signal: AbortSignal },
): Promise<void> {
  const isFolder = (await parent.look(name)).isDirectory()
  if (!isFolder) return unlink(parent.at(name))
  // The person was not asked about entries that were added to an empty folder since, so they stop the removal.
  await removeFolder(parent, name, { visited: { count: 0, max: isCounted ? area.limits.maxVisited : 0 }, signal })
}

async function makeFolders(area: Area, { spot }: Place): Promise<void> {
  let folder = await HeldFolder.open(spot.folder.real, [], area.hold)
  try {
    for (const name of spot.segments.slice(0, -1)) {
      const next = await folder.make(name)
      await folder.close()
      folder = next
    }
  } finally {
    await folder.close()
  }
}

async function lookFor(parent: HeldFolder, name: string) {
  return parent.look(name).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  })
}

function bytesOf(content: string, encoding: 'utf8' | 'base64'): Buffer {
  const bytes = Buffer.from(content, encoding)
  if (encoding === 'base64' && bytes.toString('base64').replace(/=+$/, '') !== content.replace(/=+$/, ''))
    throw new ToolError('The content is not valid base64')
  return bytes
}

function checkSize(area: Area, bytes: Uint8Array): void {
  const { maxFileBytes } = area.limits
  if (bytes.length > maxFileBytes) throw new ToolError(`The content has ${bytes.length} bytes; the limit is ${maxFileBytes} (maxFileBytes)`)
}

function checkHash(place: Place, bytes: Uint8Array | undefined, wanted: string): void {
  if (!bytes) throw new ToolError(`${place.name} no longer exists; nothing was written`)
  if (hashOf(bytes) !== wanted) throw new ToolError(`${place.name} was changed since it was read; read it again. Nothing was written`)
}

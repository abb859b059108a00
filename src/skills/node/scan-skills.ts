/** Reads all skills in a folder: their frontmatter, and the digests and sizes of their files. */

import { createHash } from 'node:crypto'
import { basename } from 'node:path'
import type { Resource } from '../../protocol/model/resources.ts'
import { SKILL_FILE, SKILL_LIMITS, type Skill, type SkillFrontmatter } from '../../protocol/model/skills.ts'
import { MAX_URI_LENGTH } from '../../protocol/uri-template/index.ts'
import { FrontmatterError, readFrontmatter } from '../frontmatter.ts'
import type { ServedFile, SkillTree } from '../skill-source.ts'
import { encodedPath } from '../skill-uri.ts'
import { textOf } from '../verify.ts'
import { fileType } from './file-types.ts'
import { FileFault, readPlainFile } from './plain-read.ts'
import { walkFolder } from './walk-folder.ts'

/** The longest description that the format of skills allows. */
const MAX_DESCRIPTION = 1024

/** Digests of files whose state has not changed since they were read. */
export type KnownDigests = Map<string, { key: string; digest: string }>

export interface ScannedFolder {
  tree: SkillTree
  /** The path of each served file, by its URI. */
  paths: ReadonlyMap<string, string>
  folders: readonly string[]
  /** One line for each skill that cannot be served, with the file. */
  faults: readonly string[]
}

interface Found {
  skill: Skill
  /** The folder of the skill within the scanned folder. */
  folder: string
  files: readonly FoundFile[]
}

interface FoundFile {
  path: string
  digest: string
  size: number
  /** Only of a SKILL.md: its frontmatter must be from the bytes of the digest. */
  bytes: Uint8Array | undefined
}

/** @param root the real path of the folder */
export async function scanSkills(root: string, maxEntries: number, digests: KnownDigests): Promise<ScannedFolder> {
  const { files, folders, faults: strange } = await walkFolder(root, maxEntries)
  const uriOf = uriMaker(root, files.includes(SKILL_FILE))
  const faults = strange.map(({ path, text }) => `${path} ${text}`)
  const read = new Map<string, Promise<FoundFile>>()
  const readFile = (path: string): Promise<FoundFile> => {
    const known = read.get(path) ?? digestOfFile(root, path, digests)
    read.set(path, known)
    return known
  }
  const found: Found[] = []
  for (const main of files.filter((path) => basename(path) === SKILL_FILE)) {
    const folder = main.slice(0, -SKILL_FILE.length - 1)
    const isInside = (path: string): boolean => folder === '' || path.startsWith(`${folder}/`)
    // The list of files would not be complete.
    if (strange.some(({ path }) => isInside(path))) continue
    try {
      found.push(await readSkill(root, folder, files.filter(isInside), uriOf, readFile))
    } catch (error) {
      if (!(error instanceof SkillFolderFault)) throw error
      faults.push(error.message)
    }
  }
  for (const path of digests.keys()) if (!read.has(path)) digests.delete(path)
  return { ...servedBy(found, uriOf), folders, faults }
}

/** The message begins with a path. */
class SkillFolderFault extends Error {}

/** A folder that is itself a skill gives its name to the skill. */
function uriMaker(root: string, isSkill: boolean): (path: string) => string {
  const prefix = isSkill ? [basename(root)] : []
  return (path) => `skill://${encodedPath([...prefix, ...(path === '' ? [] : [path])].join('/'))}`
}

async function readSkill(
  root: string,
  folder: string,
  paths: readonly string[],
  uriOf: (path: string) => string,
  readFile: (path: string) => Promise<FoundFile>,
): Promise<Found> {
  const main = folder === '' ? SKILL_FILE : `${folder}/${SKILL_FILE}`
  const shown = folder === '' ? root : folder
  if (paths.length > SKILL_LIMITS.maxResources)
    throw new SkillFolderFault(`${shown} has ${paths.length} files; a skill may have ${SKILL_LIMITS.maxResources}`)
  const tooLong = paths.find((path) => uriOf(path).length > MAX_URI_LENGTH)
  if (tooLong !== undefined) throw new SkillFolderFault(`${tooLong} has a URI of more than ${MAX_URI_LENGTH} characters`)
  const files: FoundFile[] = []
  let size = 0
  for (const path of paths) {
    const file = await explained(path, readFile(path))
    size += file.size
    if (size > SKILL_LIMITS.maxBytes)
      throw new SkillFolderFault(`${shown} has more than ${SKILL_LIMITS.maxBytes} bytes in all its files, which is the limit of a skill`)
    files.push(file)
  }
  const frontmatter = await frontmatterOf(main, files.find(({ path }) => path === main)?.bytes)
  const name = basename(folder === '' ? root : folder)
  if (frontmatter.name !== name)
    throw new SkillFolderFault(
      `${main}: the name is ${JSON.stringify(frontmatter.name)}, but the folder is ${JSON.stringify(name)}; they must be equal`,
    )
  const resources = files.map(({ path, digest, size: bytes }) => ({ uri: uriOf(path), digest, size: bytes }))
  return { skill: { uri: uriOf(main), frontmatter, resources }, folder, files }
}

async function frontmatterOf(path: string, bytes: Uint8Array | undefined): Promise<SkillFrontmatter> {
  const text = bytes && textOf(bytes)
  if (text === undefined) throw new SkillFolderFault(`${path} is not UTF-8 text`)
  try {
    const frontmatter = await readFrontmatter(text)
    const { description } = frontmatter
    if (description.length > MAX_DESCRIPTION)
      throw new FrontmatterError(2, `the description has ${description.length} characters; the limit is ${MAX_DESCRIPTION}`)
    return frontmatter
  } catch (error) {
    if (error instanceof FrontmatterError) throw new SkillFolderFault(`${path}, line ${error.line}: ${error.message}`)
    throw error
  }
}

async function digestOfFile(root: string, path: string, digests: KnownDigests): Promise<FoundFile> {
  const known = digests.get(path)
  const isMain = basename(path) === SKILL_FILE
  const { state, bytes } = await readPlainFile(root, path, ({ key }) => !isMain && key === known?.key)
  const digest = bytes ? `sha256:${createHash('sha256').update(bytes).digest('hex')}` : (known?.digest ?? '')
  digests.set(path, { key: state.key, digest })
  return { path, digest, size: state.size, bytes: isMain ? bytes : undefined }
}

async function explained<T>(path: string, work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (error instanceof FileFault) throw new SkillFolderFault(`${path} ${error.message}`)
    throw error
  }
}

/** What is served: the files of the skills, and the folders that contain them. */
function servedBy(found: readonly Found[], uriOf: (path: string) => string): Pick<ScannedFolder, 'tree' | 'paths'> {
  const files = new Map<string, ServedFile>()
  const paths = new Map<string, string>()
  const folders = new Map<string, Map<string, Resource>>()
  const skillsByMain = new Map(found.map(({ skill }) => [skill.uri, skill.frontmatter]))
  const put = (path: string, resource: Resource): void => {
    // A folder that is itself a skill has the root as its folder; other skills are in folders below the root.
    for (let [child, each] = [path, resource]; ; ) {
      const at = child.lastIndexOf('/')
      const parent = child.slice(0, Math.max(0, at))
      const parentUri = uriOf(parent)
      if (parentUri === 'skill://') return
      const inside = folders.get(parentUri) ?? new Map<string, Resource>()
      folders.set(parentUri, inside)
      inside.set(each.uri, each)
      if (parent === '') return
      each = { uri: parentUri, name: basename(parent), mimeType: 'inode/directory' }
      child = parent
    }
  }
  for (const { path, digest, size } of found.flatMap((each) => each.files)) {
    const uri = uriOf(path)
    const main = skillsByMain.get(uri)
    const mimeType = fileType(path)
    const resource: Resource = {
      uri,
      name: main?.name ?? basename(path),
      ...(main && { description: main.description }),
      ...(mimeType !== undefined && { mimeType }),
      size,
    }
    files.set(uri, { resource, digest })
    paths.set(uri, path)
    put(path, resource)
  }
  return {
    tree: {
      skills: found.map(({ skill }) => skill),
      files,
      folders: new Map([...folders].map(([uri, inside]) => [uri, [...inside.values()]])),
    },
    paths,
  }
}

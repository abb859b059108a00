/** A skill whose SKILL.md was read and verified. */

import type { Client } from '../client/client.ts'
import type { CallOptions } from '../client/options.ts'
import { SKILL_LIMITS, type Skill, type SkillResource } from '../protocol/model/skills.ts'
import type { FileCache } from './file-cache.ts'
import { SkillError } from './skill-error.ts'
import { filePath, fileUri, isInSkill, uriFault } from './skill-uri.ts'
import { contentsOf, type SkillFile, textOf, verifyBytes, verifyFrontmatter } from './verify.ts'

/** What skills need of a client. */
export type SkillClient = Pick<Client, 'server' | 'revision' | 'request'>

/**
 * A skill in use. It keeps the entry that it was loaded with, and reads only files of that entry.
 *
 * @example
 * const skill = await skills.load('skill://pdf-processing/SKILL.md')
 * const { text } = await skill.read('references/FORMS.md')
 */
export class LoadedSkill {
  /** The entry that the skill was loaded with. */
  readonly entry: Skill
  /** The whole text of SKILL.md. */
  readonly text: string
  readonly #client: SkillClient
  readonly #cache: FileCache
  /** Bytes read so far. Only they are known of a skill whose files are generated. */
  #bytes = 0

  constructor(client: SkillClient, entry: Skill, cache: FileCache, text: string) {
    this.#client = client
    this.#cache = cache
    this.entry = entry
    this.text = text
  }

  /** The paths of all files within the skill. Empty if the files are generated. */
  get files(): readonly string[] {
    const { uri, resources } = this.entry
    return resources === 'dynamic' ? [] : resources.map((file) => filePath(uri, file.uri))
  }

  /**
   * Reads and verifies a file of the skill.
   *
   * @param path relative to the folder of the skill, or the URI of the file
   * @throws SkillError if the entry does not list the file, or it is not what the entry describes
   * @example
   * const { bytes } = await skill.read('scripts/extract.py')
   */
  async read(path: string, options: CallOptions = {}): Promise<SkillFile> {
    const left = SKILL_LIMITS.maxBytes - this.#bytes
    const file = await readListed(this.#client, this.entry, fileUri(this.entry.uri, path), this.#cache, options, left)
    if (this.entry.resources === 'dynamic') this.#bytes += file.bytes.length
    return file
  }
}

/** Reads and verifies SKILL.md of an entry that was checked. */
export async function loadEntry(client: SkillClient, entry: Skill, cache: FileCache, options: CallOptions): Promise<LoadedSkill> {
  const file = await readListed(client, entry, entry.uri, cache, options, SKILL_LIMITS.maxBytes)
  if (file.text === undefined) throw new SkillError('contents', entry.uri, `${entry.uri} is not UTF-8 text`)
  await verifyFrontmatter(entry, file.text)
  return new LoadedSkill(client, entry, cache, file.text)
}

/** Reads one file of a skill, from the cache if it is there. Several parts of a program may act on the same entry. */
export async function readListed(
  client: Pick<SkillClient, 'request'>,
  entry: Skill,
  uri: string,
  cache: FileCache,
  options: CallOptions,
  maxBytes: number,
): Promise<SkillFile> {
  const listed = listedFile(entry, uri)
  const known = listed && cache.get(uri, listed.digest)
  if (known) return known
  // Not from the cache for responses: it may have an older content than the entry describes.
  const result = await client.request('resources/read', { uri }, { ...options, isFresh: true })
  const contents = contentsOf(uri, result, listed?.size ?? maxBytes)
  if (listed) await verifyBytes(listed, contents.bytes)
  else if (contents.bytes.length > maxBytes) throw new SkillError('limit', uri, `The skill has more than ${SKILL_LIMITS.maxBytes} bytes`)
  const file = { ...contents, text: textOf(contents.bytes) }
  if (listed) cache.put(listed.digest, file)
  return file
}

/** The entry's line about a file; undefined if the files are generated. */
function listedFile({ uri: skill, resources }: Skill, uri: string): SkillResource | undefined {
  const fault = uriFault(uri) ?? (isInSkill(skill, uri) ? undefined : 'it is not in the folder of the skill')
  if (fault !== undefined) throw new SkillError('unlisted', uri, `${JSON.stringify(uri.slice(0, 200))} is no file of ${skill}: ${fault}`)
  if (resources === 'dynamic') return undefined
  const found = resources.find((file) => file.uri === uri)
  if (!found)
    throw new SkillError('unlisted', uri, `${uri} is not listed in the entry of ${skill}; get the entry again if the skill has changed`)
  return found
}

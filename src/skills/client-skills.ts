/** `skillsOf`: the skills of a server, for a client. Nothing is read before it is asked for, and nothing is given out unverified. */

import { isObject } from '../base/json.ts'
import { DEFAULT_CLIENT_LIMITS } from '../client/limits.ts'
import type { CallOptions } from '../client/options.ts'
import { itemsIn, type List, listOf } from '../client/paging.ts'
import type { Params } from '../jsonrpc/message.ts'
import { checkMembers } from '../protocol/check-members.ts'
import { McpError } from '../protocol/errors.ts'
import type { Resource } from '../protocol/model/resources.ts'
import { SKILLS, type Skill } from '../protocol/model/skills.ts'
import { checkEntry } from './check-entry.ts'
import { FileCache } from './file-cache.ts'
import { type LoadedSkill, loadEntry, type SkillClient } from './loaded-skill.ts'
import { SkillError } from './skill-error.ts'

/** Options for `skillsOf`. */
export interface ClientSkillsOptions {
  /** The largest number of skills in a list. Default: 10,000. */
  maxSkills?: number
  /** Called for each skill that the list leaves out because it cannot be used. */
  onUnusable?(error: SkillError): void
  /** Receives warnings about the list. */
  onWarning?(message: string): void
}

/** The skills of one server. `skillsOf` creates it. */
export interface ClientSkills {
  /**
   * The skills of the server, from its list. Reads no file. A server may serve more skills than it lists.
   *
   * @example
   * for await (const { frontmatter } of skills.list()) console.log(frontmatter.name, frontmatter.description)
   */
  list(options?: CallOptions): List<Skill>
  /**
   * The entry of one skill, listed or not. Reads no file.
   *
   * @example
   * const skill = await skills.get('skill://refunds/SKILL.md')
   */
  get(uri: string, options?: CallOptions): Promise<Skill>
  /**
   * Reads SKILL.md of a skill and verifies its digest, its size and its frontmatter.
   *
   * @throws SkillError if it is not what the entry describes
   * @example
   * const { text } = await skills.load('skill://refunds/SKILL.md')
   */
  load(skill: string | Skill, options?: CallOptions): Promise<LoadedSkill>
  /**
   * The files and folders in a folder of the server, if it can list folders. What it lists may differ from the entry of a skill; only
   * the files of the entry can be read with `LoadedSkill.read`.
   *
   * @example
   * for await (const { uri } of skills.directory('skill://refunds/templates')) console.log(uri)
   */
  directory(uri: string, options?: CallOptions): List<Resource>
}

/**
 * The skills of a server that has the extension for skills.
 *
 * @throws McpError ERR_CAPABILITY_MISSING if the server does not have it
 * @example
 * const skills = skillsOf(await connect('https://example.com/mcp'))
 * const { text } = await skills.load('skill://refunds/SKILL.md')
 */
export function skillsOf(client: SkillClient, options: ClientSkillsOptions = {}): ClientSkills {
  checkMembers('skillsOf', options, { maxSkills: 1, onUnusable: 1, onWarning: 1 })
  const { maxSkills = 10_000, onUnusable, onWarning = () => {} } = options
  const settings = settingsOf(client)
  const cache = new FileCache()
  const limits = { maxItems: maxSkills }

  const get = async (uri: string, options: CallOptions = {}): Promise<Skill> => {
    const { skill } = await client.request('skills/get', { uri }, options)
    const entry = checkEntry(skill)
    if (entry.uri === uri) return entry
    throw new SkillError('entry', uri, `The server answered with the skill ${entry.uri} instead of ${uri}`)
  }

  const usable = (page: Params): Skill[] =>
    itemsIn<object>(page, 'skills').flatMap((raw) => {
      try {
        return [checkEntry(raw)]
      } catch (error) {
        if (!(error instanceof SkillError)) throw error
        onUnusable?.(error)
        return []
      }
    })

  return {
    list: (options = {}) =>
      listOf({
        method: 'skills/list',
        limits,
        onWarning,
        itemsOf: usable,
        fetch: (cursor) => client.request('skills/list', cursor === undefined ? {} : { cursor }, options),
      }),
    get,
    load: async (skill, options = {}) => {
      const entry = typeof skill === 'string' ? await get(skill, options) : checkEntry(skill)
      return loadEntry(client, entry, cache, options)
    },
    directory: (uri, options = {}) => {
      if (settings.directoryRead !== true)
        throw new McpError(
          'ERR_CAPABILITY_MISSING',
          'resources/directory/read needs the setting directoryRead, which the server did not declare',
        )
      return listOf({
        method: 'resources/directory/read',
        limits: { maxItems: DEFAULT_CLIENT_LIMITS.maxItems },
        onWarning,
        itemsOf: (page) => itemsIn<Resource>(page, 'resources'),
        fetch: (cursor) => client.request('resources/directory/read', cursor === undefined ? { uri } : { uri, cursor }, options),
      })
    },
  }
}

function settingsOf({ server, revision }: SkillClient): Record<string, unknown> {
  const settings = skillSettings(server.capabilities)
  if (settings) return settings
  const where = `in protocol revision ${revision}; older revisions have no skills`
  throw new McpError('ERR_CAPABILITY_MISSING', `The server did not declare the extension ${SKILLS} ${where}`)
}

/** What a server declares about skills; undefined if it has none. */
export function skillSettings({ extensions }: { extensions?: unknown }): Record<string, unknown> | undefined {
  // Own members only: the peer chooses the names.
  const settings = isObject(extensions) && Object.hasOwn(extensions, SKILLS) ? extensions[SKILLS] : undefined
  return isObject(settings) ? settings : undefined
}

/** Checks the entry of a skill as a server sent it, before anything of the skill is read. */

import { isObject } from '../base/json.ts'
import { SKILL_FILE, SKILL_LIMITS, type Skill, type SkillResource } from '../protocol/model/skills.ts'
import { frontmatterFault } from './frontmatter.ts'
import { SkillError } from './skill-error.ts'
import { isInSkill, nameInUri, uriFault } from './skill-uri.ts'

const DIGEST = /^sha256:[0-9a-f]{64}$/

/**
 * The entry with its files in order. Members that the extension does not define are left out, so that two entries are equal if they
 * mean the same.
 * @throws SkillError
 */
export function checkEntry(raw: unknown): Skill {
  if (!isObject(raw)) throw new SkillError('entry', '', 'Expected the entry of a skill to be an object')
  const { uri, frontmatter, resources } = raw
  const shown = typeof uri === 'string' ? uri.slice(0, 200) : ''
  const refuse = (text: string, fault: 'entry' | 'limit' = 'entry'): never => {
    throw new SkillError(fault, shown, `The skill ${JSON.stringify(shown)} cannot be used: ${text}`)
  }
  const fault = uriFault(uri)
  if (fault !== undefined || typeof uri !== 'string') return refuse(fault ?? '')
  const name = nameInUri(uri)
  if (name === undefined) return refuse(`its URI must end with a folder and ${SKILL_FILE}`)
  const wrong = frontmatterFault(frontmatter)
  if (wrong) return refuse(wrong.text)
  const described = frontmatter as Skill['frontmatter']
  if (described.name !== name)
    return refuse(`its folder is ${JSON.stringify(name)}, but its name is ${JSON.stringify(described.name)}; they must be equal`)
  if (resources === 'dynamic') return { uri, frontmatter: described, resources }
  if (!Array.isArray(resources)) return refuse('resources must be a list of files, or "dynamic"')
  if (resources.length > SKILL_LIMITS.maxResources)
    return refuse(`it has ${resources.length} files; the limit is ${SKILL_LIMITS.maxResources}`, 'limit')
  const files = new Map<string, SkillResource>()
  let bytes = 0
  for (const each of resources as readonly unknown[]) {
    const file = readFile(uri, each)
    if (typeof file === 'string') return refuse(file)
    if (files.has(file.uri)) return refuse(`it lists ${file.uri} twice`)
    files.set(file.uri, file)
    bytes += file.size
  }
  if (!files.has(uri)) return refuse(`it does not list its own ${SKILL_FILE}`)
  if (bytes > SKILL_LIMITS.maxBytes) return refuse(`its files have ${bytes} bytes; the limit is ${SKILL_LIMITS.maxBytes}`, 'limit')
  return { uri, frontmatter: described, resources: [...files.values()].sort((a, b) => (a.uri < b.uri ? -1 : 1)) }
}

/** A text says what is wrong. */
function readFile(skillUri: string, raw: unknown): SkillResource | string {
  if (!isObject(raw)) return 'each file must be an object with uri, digest and size'
  const { uri, digest, size } = raw
  const fault = uriFault(uri)
  if (fault !== undefined || typeof uri !== 'string') return `a file has an invalid URI: ${fault}`
  const shown = JSON.stringify(uri.slice(0, 200))
  if (!isInSkill(skillUri, uri)) return `the file ${shown} is not in the folder of the skill`
  if (typeof digest !== 'string' || !DIGEST.test(digest)) return `the digest of ${shown} must be "sha256:" and 64 hexadecimal digits`
  if (!Number.isSafeInteger(size) || (size as number) < 0) return `the size of ${shown} must be a whole number of bytes`
  return { uri, digest, size: size as number }
}

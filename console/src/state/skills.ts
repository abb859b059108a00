/** Skills in words, and their files. */

import { isObject } from '../../../src/base/json.ts'
import type { SkillView } from '../../../src/console/api.ts'

export const SKILL_STATES: Readonly<Record<SkillView['state'], { word: string; tone: 'fine' | 'waiting'; about: string }>> = {
  approved: { word: 'approved', tone: 'fine', about: 'Models can load it.' },
  new: { word: 'waits for you', tone: 'waiting', about: 'No model gets it before you approve it.' },
  changed: { word: 'changed', tone: 'waiting', about: 'It changed since you approved it. No model gets it before you approve it again.' },
}

/** The text of the contents of a resource. */
export function textOfContents(result: unknown): string {
  const contents = isObject(result) && Array.isArray(result.contents) ? result.contents : []
  return contents.map((each: unknown) => (isObject(each) && typeof each.text === 'string' ? each.text : '(no text)')).join('\n')
}

/** What the definition of a skill says about it, as far as it has the expected form. */
export function skillFactsOf(definition: unknown): Pick<SkillView, 'name' | 'description' | 'uri' | 'files'> | undefined {
  if (!isObject(definition) || typeof definition.uri !== 'string' || !isObject(definition.frontmatter)) return undefined
  const { uri, frontmatter, resources } = definition
  const root = uri.slice(0, -'SKILL.md'.length)
  const files = (Array.isArray(resources) ? resources : []).flatMap((file: unknown) =>
    isObject(file) && typeof file.uri === 'string' ? [{ path: file.uri.slice(root.length), size: Number(file.size) }] : [],
  )
  return { uri, name: String(frontmatter.name), description: String(frontmatter.description ?? ''), files }
}

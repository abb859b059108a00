/** Lists the changes between two entries of a skill: of its frontmatter and of its files. */

import { counted } from '../../base/text/counted.ts'
import type { Skill, SkillResource } from '../../protocol/model/skills.ts'
import { isEqual } from '../../protocol/schema/equality.ts'
import { filePath } from '../../skills/skill-uri.ts'
import { at, type Change, changeOf, textChange } from './change.ts'

/** Both values are entries that were checked when they arrived. */
export function skillChanges(before: unknown, after: unknown): Change[] {
  const [left, right] = [before as Skill, after as Skill]
  return [...frontmatterChanges(left, right), ...fileChanges(left, right)]
}

function frontmatterChanges({ frontmatter: left }: Skill, { frontmatter: right }: Skill): Change[] {
  return [...new Set([...Object.keys(left), ...Object.keys(right)])].flatMap((name) => {
    const [former, now] = [left, right].map((each) => (Object.hasOwn(each, name) ? each[name] : undefined))
    if (isEqual(former, now)) return []
    const pointer = at('frontmatter', name)
    if (name === 'description') return [textChange(former, now, pointer)]
    const text = former === undefined ? 'added' : now === undefined ? 'removed' : 'changed'
    return [changeOf(pointer, now === undefined ? 'narrowed' : 'widened', text, former, now)]
  })
}

/** A changed file may tell the model anything, so it counts as widening. */
function fileChanges(left: Skill, right: Skill): Change[] {
  const [former, now] = [filesOf(left), filesOf(right)]
  return [...new Set([...former.keys(), ...now.keys()])].sort().flatMap((path) => {
    const [was, is] = [former.get(path), now.get(path)]
    if (was?.digest === is?.digest) return []
    if (!was) return [changeOf(path, 'widened', 'new file', undefined, shown(is))]
    if (!is) return [changeOf(path, 'narrowed', 'file removed', shown(was), undefined)]
    return [changeOf(path, 'widened', 'content changed', shown(was), shown(is))]
  })
}

const filesOf = ({ uri, resources }: Skill): Map<string, SkillResource> =>
  new Map(resources === 'dynamic' ? [] : resources.map((file) => [filePath(uri, file.uri), file]))

const shown = (file: SkillResource | undefined): string => (file ? `${counted(file.size, 'byte')}, ${file.digest.slice(0, 19)}…` : '')

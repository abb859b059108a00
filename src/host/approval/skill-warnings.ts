/** Warnings about a skill: its text, its programs, and the rights that it asks for. */

import { counted } from '../../base/text/counted.ts'
import { visibleText } from '../../base/text/visible-text.ts'
import { SKILL_FILE, type Skill } from '../../protocol/model/skills.ts'
import { filePath } from '../../skills/skill-uri.ts'

const SHOWN_FILES = 5

/** A skill has at least one warning, so it is never used before the person has looked at it. */
export function skillWarnings({ uri, frontmatter, resources }: Skill): string[] {
  const files = resources === 'dynamic' ? [] : resources
  const scripts = files.filter((file) => SCRIPT.test(file.uri)).map((file) => filePath(uri, file.uri))
  const wishes = WISHES.filter((name) => Object.hasOwn(frontmatter, name))
  const nested = files.filter((file) => file.uri !== uri && file.uri.endsWith(`/${SKILL_FILE}`)).length
  return [
    'A skill tells the model what to do, in the words of the server. Read its text before you approve it',
    ...(scripts.length > 0 ? [`Contains programs: ${listText(scripts)}. The host never runs them; the model may ask a tool to do so`] : []),
    ...(wishes.length > 0 ? [`Asks for rights (${wishes.join(', ')}), which the host ignores`] : []),
    ...(nested > 0
      ? [`Contains ${counted(nested, 'other skill', 'other skills')}; this approval is not for ${nested === 1 ? 'it' : 'them'}`]
      : []),
  ]
}

const SCRIPT = /\.(?:py|sh|bash|zsh|ps1|bat|cmd|[cm]?[jt]s|rb|pl|php|lua|exe|jar|wasm)$/i
/** Members of the frontmatter with which a skill asks for tools, or for programs to be run. */
const WISHES = ['allowed-tools', 'hooks', 'scripts', 'permissions']

const listText = (names: readonly string[]): string => {
  const more = names.length > SHOWN_FILES ? ` and ${names.length - SHOWN_FILES} more` : ''
  return `${names
    .slice(0, SHOWN_FILES)
    .map((each) => visibleText(each))
    .join(', ')}${more}`
}

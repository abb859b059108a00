/** Skills, an extension: folders with instructions for models, served as resources. Types, and the limits that the extension sets. */

/** The name of the extension. */
export const SKILLS = 'io.modelcontextprotocol/skills'

/** The file that makes a folder a skill. */
export const SKILL_FILE = 'SKILL.md'

/** Every host accepts skills up to these limits. */
export const SKILL_LIMITS = { maxResources: 512, maxBytes: 16 * 1024 * 1024 } as const

/** One file of a skill. */
export interface SkillResource {
  uri: string
  /** SHA-256 of the bytes of the file: `sha256:` and 64 hexadecimal digits. */
  digest: string
  /** The number of bytes. */
  size: number
}

/** The YAML at the beginning of SKILL.md. */
export interface SkillFrontmatter {
  name: string
  description: string
  [member: string]: unknown
}

/** A skill in the list of a server. */
export interface Skill {
  /** The URI of its SKILL.md. */
  uri: string
  frontmatter: SkillFrontmatter
  /** All files of the skill, SKILL.md included; `dynamic` if they are generated and have no fixed content. */
  resources: readonly SkillResource[] | 'dynamic'
}

/** portico/skills: skills that a server serves from a folder, and skills that a client reads and verifies. */

export type { Skill, SkillFrontmatter, SkillResource } from '../protocol/model/skills.ts'
export { SKILL_LIMITS } from '../protocol/model/skills.ts'
export { type ClientSkills, type ClientSkillsOptions, skillsOf } from './client-skills.ts'
export type { LoadedSkill, SkillClient } from './loaded-skill.ts'
export type { SkillsOptions } from './server/options.ts'
export { skills } from './server/support.ts'
export { SkillError, type SkillFault } from './skill-error.ts'
export type { SkillFile } from './verify.ts'

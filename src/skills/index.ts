/** portico/skills: clients read and verify the skills of a server. `server.skills` of portico/server serves them. */

export type { Skill, SkillFrontmatter, SkillResource } from '../protocol/model/skills.ts'
export { SKILL_LIMITS } from '../protocol/model/skills.ts'
export { type ClientSkills, type ClientSkillsOptions, skillsOf } from './client-skills.ts'
export type { LoadedSkill, SkillClient } from './loaded-skill.ts'
export { SkillError, type SkillFault } from './skill-error.ts'
export type { SkillFile } from './verify.ts'

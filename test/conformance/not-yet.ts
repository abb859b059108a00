/** Scenarios of the suite that are not run yet, each with what brings it. One that passes must leave this list. */

const tasks = 'arrives with the tasks extension'
const skills = 'arrives with the skills extension'

export const NOT_YET: Record<string, string> = {
  'tasks-status-notifications': `${tasks}; the suite skips its one check for everybody`,
  'sep-2640-skills-directory': skills,
  'sep-2640-skills-enumeration': skills,
  'sep-2640-skills-manifest': skills,
  'sep-2640-client-no-prefetch': skills,
  'sep-2640-client-verify-digest': skills,
  'sep-2640-client-verify-size': skills,
  'sep-2640-client-verify-frontmatter': skills,
}

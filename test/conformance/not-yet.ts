/** Scenarios of the suite that are not run yet, each with what brings it. One that passes must leave this list. */

const tasks = 'arrives with the tasks extension'
const skills = 'arrives with the skills extension'

export const NOT_YET: Record<string, string> = {
  'tasks-lifecycle': tasks,
  'tasks-capability-negotiation': tasks,
  'tasks-wire-fields': tasks,
  'tasks-request-state-removal': tasks,
  'tasks-mrtr-input': tasks,
  'tasks-request-headers': tasks,
  'tasks-dispatch-and-envelope': tasks,
  'tasks-status-notifications': `${tasks}; the suite skips its one check for everybody`,
  'tasks-required-task-error': tasks,
  'tasks-mrtr-composition': tasks,
  'sep-2640-skills-directory': skills,
  'sep-2640-skills-enumeration': skills,
  'sep-2640-skills-manifest': skills,
  'sep-2640-client-no-prefetch': skills,
  'sep-2640-client-verify-digest': skills,
  'sep-2640-client-verify-size': skills,
  'sep-2640-client-verify-frontmatter': skills,
}

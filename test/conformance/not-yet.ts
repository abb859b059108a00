/** Scenarios of the suite that are not run yet, each with what brings it. One that passes must leave this list. */

const tasks = 'arrives with the tasks extension'

export const NOT_YET: Record<string, string> = {
  'tasks-status-notifications': `${tasks}; the suite skips its one check for everybody`,
}

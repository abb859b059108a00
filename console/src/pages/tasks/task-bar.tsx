/** The progress of a running task. Without numbers of the server the bar only shows that it runs. */

import type { ReactNode } from 'react'
import type { TaskView } from '../../../../src/console/api.ts'
import { foreignName } from '../../state/foreign-text.ts'
import { taskShare } from '../../state/tasks.ts'
import css from './page.module.css'

export function TaskBar({ task }: { task: TaskView }): ReactNode {
  const share = taskShare(task)
  const label = `Progress of ${foreignName(task.tool)}`
  return share === undefined ? (
    <progress className={css.bar} aria-label={label} />
  ) : (
    <progress className={css.bar} aria-label={label} value={share} max={1} />
  )
}

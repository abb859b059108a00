/** Tasks: tool calls that go on in the background, with their questions and results. */

import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { type ReactNode, useMemo } from 'react'
import type { TaskView } from '../../../../src/console/api.ts'
import { Badge } from '../../components/badge.tsx'
import { buttonClass } from '../../components/button.tsx'
import { ListDetails, RowWords } from '../../components/list-details.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { EmptyState, ErrorState, Skeleton } from '../../components/states.tsx'
import { useRoute } from '../../hooks/use-console.tsx'
import { foreignName } from '../../state/foreign-text.ts'
import { agoText, durationText } from '../../state/format.ts'
import { isRunning, orderedTasks, startedBy, taskMessage, taskMs, taskState } from '../../state/tasks.ts'
import css from './page.module.css'
import { TaskBar } from './task-bar.tsx'
import { TaskPanel } from './task-panel.tsx'
import { useSeconds } from './use-seconds.ts'

export function TasksPage(): ReactNode {
  const { task: selected } = useSearch({ from: '/tasks' })
  const { data, error, refetch } = useRoute('GET /api/tasks')
  const tasks = useMemo(() => orderedTasks(data?.tasks ?? []), [data])
  return (
    <div className={css.page}>
      <PageHeader title="Tasks" about="Tool calls that go on in the background, also after you close this page or the host." />
      {error && <ErrorState title="The tasks could not be fetched" error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Skeleton lines={6} />}
      {data && tasks.length === 0 && selected === undefined && (
        <EmptyState
          title="No tasks yet"
          action={
            <Link to="/tools" className={buttonClass({ kind: 'main' })}>
              Choose a tool
            </Link>
          }
        >
          Open a tool that takes long, and run it as a task. Its progress, its questions and its result are here.
        </EmptyState>
      )}
      {(tasks.length > 0 || selected !== undefined) && (
        <ListDetails
          className={css.columns}
          list={tasks.length > 0 && <TaskList tasks={tasks} selected={selected} />}
          details={selected === undefined ? undefined : <TaskPanel key={selected} id={selected} />}
        />
      )}
    </div>
  )
}

function TaskList({ tasks, selected }: { tasks: readonly TaskView[]; selected: string | undefined }): ReactNode {
  const navigate = useNavigate({ from: '/tasks' })
  const now = useSeconds(tasks.some(isRunning))
  return (
    <ul className={css.list} aria-label="Tasks">
      {tasks.map((task) => {
        const { word, tone } = taskState(task)
        const message = taskMessage(task)
        return (
          <li key={task.id}>
            <button
              type="button"
              className={css.row}
              aria-current={task.id === selected ? 'true' : undefined}
              onClick={() => void navigate({ search: { task: task.id } })}
            >
              <RowWords
                name={foreignName(`${task.server}/${task.tool}`)}
                about={[startedBy(task), agoText(task.startedAt, now), durationText(taskMs(task, now)), message]
                  .filter(Boolean)
                  .join(' · ')}
              >
                {isRunning(task) && <TaskBar task={task} />}
              </RowWords>
              <Badge tone={tone}>{word}</Badge>
            </button>
          </li>
        )
      })}
    </ul>
  )
}

/** One task: what runs, its questions, its result. */

import { Link } from '@tanstack/react-router'
import { type ReactNode, useEffect, useRef } from 'react'
import type { TaskDetails } from '../../../../src/console/api.ts'
import { Badge } from '../../components/badge.tsx'
import { Button } from '../../components/button.tsx'
import { CopyButton } from '../../components/copy-button.tsx'
import { Fact, Facts } from '../../components/facts.tsx'
import { DetailsPane } from '../../components/list-details.tsx'
import { ErrorState, Skeleton } from '../../components/states.tsx'
import { StoredArguments } from '../../components/stored-arguments.tsx'
import { useAction, useConsoleState, useRoute } from '../../hooks/use-console.tsx'
import { QuestionCard } from '../../questions/question-card.tsx'
import { CallResult } from '../../results/call-result.tsx'
import { foreignName, foreignText } from '../../state/foreign-text.ts'
import { dateText, durationText } from '../../state/format.ts'
import { isRunning, questionsOf, taskMessage, taskMs, taskNote, taskShare, taskState } from '../../state/tasks.ts'
import css from './page.module.css'
import { TaskBar } from './task-bar.tsx'
import { useSeconds } from './use-seconds.ts'

export function TaskPanel({ id }: { id: string }): ReactNode {
  const { data, error, refetch } = useRoute('GET /api/tasks/:id', { params: { id } })
  if (error)
    return (
      <DetailsPane className={css.details} label="Task">
        <ErrorState
          title={error.status === 404 ? 'There is no such task' : 'The task could not be fetched'}
          error={error}
          advice={error.status === 404 ? 'Tasks that have ended are removed after a while.' : undefined}
          onRetry={() => void refetch()}
        />
      </DetailsPane>
    )
  if (!data)
    return (
      <DetailsPane className={css.details} label="Task">
        <Skeleton lines={4} />
      </DetailsPane>
    )
  return <Panel task={data.task} />
}

function Panel({ task }: { task: TaskDetails }): ReactNode {
  const title = useRef<HTMLHeadingElement>(null)
  // The list and the details are below each other in a narrow window.
  useEffect(() => title.current?.scrollIntoView({ block: 'nearest' }), [])
  const { word, tone } = taskState(task)
  const note = taskNote(task)
  return (
    <DetailsPane className={css.details} label="Task">
      <div className={css.top}>
        <h2 ref={title} className={css.title}>
          {foreignName(`${task.server}/${task.tool}`)}
        </h2>
        <Badge tone={tone}>{word}</Badge>
      </div>
      {isRunning(task) && <Running task={task} />}
      {note !== undefined && <p className={css.muted}>{note}</p>}
      <Questions id={task.id} />
      {task.error && <ErrorState title={word === 'cancelled' ? 'It was cancelled' : 'It failed'} error={shownError(task.error)} />}
      {task.result && (
        <section aria-label="Result of the task" aria-live="polite">
          <h3>Result</h3>
          <CallResult result={task.result} name={task.tool} />
        </section>
      )}
      <TaskFacts task={task} />
    </DetailsPane>
  )
}

const shownError = ({ code, message }: NonNullable<TaskDetails['error']>): { code?: string; message: string } => ({
  message: foreignText(message),
  ...(code !== undefined && { code: String(code) }),
})

function Running({ task }: { task: TaskDetails }): ReactNode {
  const now = useSeconds(true)
  const cancel = useAction('DELETE /api/tasks/:id', { stale: ['GET /api/tasks', 'GET /api/tasks/:id'] })
  const share = taskShare(task)
  const message = taskMessage(task)
  return (
    <div className={css.running}>
      <div className={css.top}>
        <span role="status" className={css.message}>
          {task.status === 'input_required' ? 'Waits for an answer' : message === '' ? 'Running' : message}
          {share !== undefined && ` · ${Math.round(share * 100)} %`}
        </span>
        <span className={css.muted}>{durationText(taskMs(task, now))}</span>
        <Button isSmall isBusy={cancel.isPending} disabled={task.isCancelling} onClick={() => cancel.mutate({ params: { id: task.id } })}>
          {task.isCancelling ? 'Cancelling' : 'Cancel'}
        </Button>
      </div>
      <TaskBar task={task} />
      {cancel.error && <ErrorState title="It was not cancelled" error={cancel.error} />}
    </div>
  )
}

/** The same cards as in the tray: an answer in one place removes the question in both. */
function Questions({ id }: { id: string }): ReactNode {
  const questions = useConsoleState((state) => state.questions)
  const asked = questionsOf(questions, id)
  if (asked.length === 0) return null
  return (
    <section aria-label="Questions of the task" className={css.questions}>
      {asked.map((question) => (
        <QuestionCard key={question.id} question={question} />
      ))}
    </section>
  )
}

function TaskFacts({ task }: { task: TaskDetails }): ReactNode {
  const { args, server, tool } = task
  return (
    <Facts>
      <Fact name="Tool">
        <Link to="/tools" search={{ tool: `${server}/${tool}` }}>
          {foreignName(`${server}/${tool}`)}
        </Link>
      </Fact>
      <Fact name="Asked by">{task.chain.map((part) => foreignName(part)).join(', ')}</Fact>
      <Fact name="Arguments">
        <StoredArguments
          isWhole={args.isWhole}
          preview={typeof args.preview === 'string' ? foreignText(args.preview) : args.preview}
          cut="Only the beginning is stored."
        />
      </Fact>
      <Fact name="Started">{dateText(task.startedAt)}</Fact>
      {task.endedAt !== undefined && (
        <Fact name="Ended">
          {dateText(task.endedAt)}, after {durationText(taskMs(task, task.endedAt))}
        </Fact>
      )}
      {task.expiresAt !== undefined && <Fact name="The server keeps it until">{dateText(task.expiresAt)}</Fact>}
      <Fact name="Audit">
        <Link to="/audit" search={{ record: String(task.intent) }}>
          Record {task.intent}
        </Link>
      </Fact>
      <Fact name="Id">
        <span className={css.id}>{task.id}</span> <CopyButton text={task.id} label="Copy id" />
      </Fact>
    </Facts>
  )
}

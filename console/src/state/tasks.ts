/** Tasks in words, for the list and the details. */

import type { TaskView } from '../../../src/console/api.ts'
import type { WaitingQuestion } from './console-state.ts'
import { foreignName, foreignText } from './foreign-text.ts'

type Tone = 'plain' | 'fine' | 'waiting' | 'danger'

export const isRunning = ({ endedAt }: Pick<TaskView, 'endedAt'>): boolean => endedAt === undefined

/** The state in one or two words, and its colour. */
export function taskState(task: TaskView): { word: string; tone: Tone } {
  if (!isRunning(task)) {
    if (task.status === 'cancelled') return { word: 'cancelled', tone: 'plain' }
    return task.status === 'completed' && !task.error ? { word: 'done', tone: 'fine' } : { word: 'failed', tone: 'danger' }
  }
  if (task.isCancelling) return { word: 'cancelling', tone: 'waiting' }
  if (task.status === 'input_required') return { word: 'asks you', tone: 'waiting' }
  if (task.followed === 'waiting') return { word: 'not connected', tone: 'waiting' }
  return { word: 'running', tone: 'plain' }
}

/** What the server says about the task, or why it ended. */
export function taskMessage({ error, statusMessage, progress }: TaskView): string {
  if (error) return foreignText(error.message)
  return foreignText(statusMessage ?? progress?.message ?? '')
}

/** Who started it: you, or a model. */
export const startedBy = ({ chain }: Pick<TaskView, 'chain'>): string => foreignName(chain.slice(-1)[0] ?? 'you')

/** How much is done, from 0 to 1. Undefined: the server does not say. */
export function taskShare({ progress }: Pick<TaskView, 'progress'>): number | undefined {
  const { total } = progress ?? {}
  if (!progress || typeof total !== 'number' || !(total > 0)) return undefined
  return Math.min(1, Math.max(0, progress.progress / total || 0))
}

/** Why nothing happens now. Undefined: something does. */
export function taskNote(task: TaskView): string | undefined {
  if (!isRunning(task)) return undefined
  if (task.followed === 'elsewhere') return 'Another process follows this task and answers its questions. You can cancel it here.'
  if (task.followed === 'waiting')
    return `The server ${foreignName(task.server)} is not connected. The task goes on when it is, if the server still has it.`
  return undefined
}

/** How long a task runs or ran. */
export const taskMs = ({ startedAt, endedAt }: Pick<TaskView, 'startedAt' | 'endedAt'>, now: number): number =>
  Math.max(0, (endedAt ?? now) - startedAt)

/** The questions of a task that wait or have just ended. */
export const questionsOf = (questions: readonly WaitingQuestion[], id: string): WaitingQuestion[] =>
  questions.filter(({ view }) => view?.question.task?.id === id)

/** Running tasks first, then the newest. */
export const orderedTasks = (tasks: readonly TaskView[]): TaskView[] =>
  [...tasks].sort((one, other) => Number(isRunning(other)) - Number(isRunning(one)) || other.startedAt - one.startedAt)

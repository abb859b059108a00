/** The changes of a task. Each returns the changed record, or undefined if the task does not allow it. A final task allows none. */

import { comparableJson } from '../../base/canonical-json.ts'
import type { TaskJournal, TaskLease, TaskRecord } from '../../protocol/interfaces/task-record.ts'
import type { InputRequest } from '../../protocol/model/input-required.ts'
import { statusText, type TaskOutcome } from '../../protocol/model/kept-task.ts'
import { isFinal } from '../../protocol/model/tasks.ts'

/** The end of a lease whose process does not go on with the task. */
export const HANDED_OVER = 0

/** A change of a task. */
export type Transition = (task: TaskRecord) => TaskRecord | undefined

const unlessFinal =
  (change: Transition): Transition =>
  (task) =>
    isFinal(task) ? undefined : change(task)

/** A change that only the process with this lease may make. After another process took the task over, it is not possible. */
export const heldBy =
  ({ holder, epoch }: TaskLease, change: Transition): Transition =>
  (task) =>
    task.lease.holder === holder && task.lease.epoch === epoch ? change(task) : undefined

/** Ends a task with what the call would have answered. */
export const finish = (outcome: TaskOutcome): Transition =>
  unlessFinal((task) => {
    const failed = 'error' in outcome
    const { statusMessage: _, ...rest } = task
    const message = failed ? { statusMessage: statusText(outcome.error.message) } : {}
    return { ...rest, ...message, status: failed ? 'failed' : 'completed', outcome, questions: {}, received: {} }
  })

/** Ends a task without an outcome. */
export const cancel = (statusMessage: string): Transition =>
  unlessFinal((task) => ({ ...task, status: 'cancelled', statusMessage, questions: {}, received: {} }))

export const say = (statusMessage: string): Transition =>
  unlessFinal((task) => (task.statusMessage === statusMessage ? undefined : { ...task, statusMessage }))

/** Asks. An answer that came before, while a handler that was started again had not asked yet, counts only for exactly that question. */
export const ask = (questions: Record<string, InputRequest>): Transition =>
  unlessFinal((task) => {
    const isFor = (name: string): boolean =>
      !Object.hasOwn(questions, name) || comparableJson(questions[name]) === comparableJson(task.questions[name])
    const received = Object.fromEntries(Object.entries(task.received).filter(([name]) => isFor(name)))
    return { ...task, status: 'input_required', questions: { ...task.questions, ...questions }, received }
  })

/** Accepts the answer to an open question. */
export const answer = (name: string, digest: string, raw: unknown): Transition =>
  unlessFinal((task) => {
    if (!Object.hasOwn(task.questions, name)) return undefined
    const { [name]: _, ...questions } = task.questions
    const { [name]: __, ...received } = task.received
    const { journal } = task
    return {
      ...task,
      status: Object.keys(questions).length > 0 ? 'input_required' : 'working',
      questions,
      received,
      journal: { ...journal, asked: { ...journal.asked, [name]: digest }, answers: { ...journal.answers, [name]: raw } },
    }
  })

/** Withdraws a question that the handler no longer needs. */
export const withdraw = (name: string): Transition =>
  unlessFinal((task) => {
    if (!Object.hasOwn(task.questions, name)) return undefined
    const { [name]: _, ...questions } = task.questions
    const { [name]: __, ...received } = task.received
    return { ...task, status: Object.keys(questions).length > 0 ? 'input_required' : 'working', questions, received }
  })

/** Keeps answers for the handler. The first answer to a question counts. Answers to other questions are ignored. */
export const receive = (answers: Record<string, unknown>): Transition =>
  unlessFinal((task) => {
    const { questions, received } = task
    const open = Object.entries(answers).filter(([name]) => Object.hasOwn(questions, name) && !Object.hasOwn(received, name))
    return open.length === 0 ? undefined : { ...task, received: { ...received, ...Object.fromEntries(open) } }
  })

export const keepSteps = (steps: Record<string, unknown>): Transition =>
  unlessFinal((task) => ({ ...task, journal: { ...task.journal, steps: { ...task.journal.steps, ...steps } } }))

/**
 * Gives a task to another process. Its handler asks its questions again, except for those that were answered while no process ran the
 * task: a client answers a question once. Until then the others stay open, so that clients do not withdraw them. Undefined if `given` lacks an
 * answer.
 */
export const takeOver = (holder: string, until: number, given: Pick<TaskJournal, 'asked' | 'answers'>): Transition =>
  unlessFinal((task) => {
    const { journal, received, lease, runs } = task
    if (Object.keys(received).some((name) => !Object.hasOwn(given.answers, name))) return undefined
    const questions = Object.fromEntries(Object.entries(task.questions).filter(([name]) => !Object.hasOwn(given.answers, name)))
    return {
      ...task,
      status: Object.keys(questions).length > 0 ? 'input_required' : 'working',
      questions,
      received: {},
      journal: { ...journal, asked: { ...journal.asked, ...given.asked }, answers: { ...journal.answers, ...given.answers } },
      lease: { holder, epoch: lease.epoch + 1, until },
      // If it has the lease already, an earlier takeover reached the store and its reply was lost, so the handler has not begun.
      runs: lease.until === HANDED_OVER || lease.holder === holder ? runs : runs + 1,
    }
  })

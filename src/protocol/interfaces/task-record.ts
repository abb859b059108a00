/** A task as a store keeps it. Everything in it is JSON. */

import type { Params } from '../../jsonrpc/message.ts'
import type { Implementation } from '../model/base.ts'
import type { InputRequest } from '../model/input-required.ts'
import { failureText, type KeptTask } from '../model/kept-task.ts'
import type { ClientCapabilities } from '../model/lifecycle.ts'
import type { TokenClaims } from './access.ts'

/** The answers and steps of a task. A restarted handler gets them instead of asking and running again. */
export interface TaskJournal {
  callId: string
  /** Digests of answered questions, by name. An answer counts only for exactly that question. */
  asked: Record<string, string>
  /** Accepted answers, as they came, by the name of the question. */
  answers: Record<string, unknown>
  /** Values of finished steps, by name. */
  steps: Record<string, unknown>
}

/** The process that runs a task. After `until` another process may take the task over, with a higher epoch. */
export interface TaskLease {
  holder: string
  epoch: number
  /** Milliseconds since 1970. 0: the process has handed the task over. */
  until: number
}

/** Whether these are one lease, which may have been renewed. */
export const isSameLease = (a: TaskLease, b: TaskLease): boolean => a.holder === b.holder && a.epoch === b.epoch

/** A task as a store keeps it. */
export interface TaskRecord extends KeptTask {
  /** The principal that may use the task; empty without authentication. */
  owner: string
  /** Whose tasks are counted together. */
  account: string
  /** Counts the changes of the record, from 1. */
  edition: number
  tool: string
  /** The params of the call. */
  params: Params
  caller: { client: Implementation | undefined; capabilities: ClientCapabilities; auth: TokenClaims | undefined; revision: string }
  /** Questions without an answer, by name. */
  questions: Record<string, InputRequest>
  /** Answers that another process received, and that the process with the lease has not checked yet. */
  received: Record<string, unknown>
  journal: TaskJournal
  lease: TaskLease
  /** How many processes have run the task, with the one that runs it now. Those that handed it over do not count. */
  runs: number
}

/** A task without its content, which can be large. */
export type TaskHead = Omit<TaskRecord, 'params' | 'caller' | 'questions' | 'received' | 'journal'>

/** A task without its content. Of its outcome it keeps only the text of an error that a tool reported, which lists show. */
export function headOf(task: TaskHead): TaskHead {
  const { params: _, caller: __, questions: ___, received: ____, journal: _____, outcome, ...head } = task as TaskRecord
  if (!outcome || !('result' in outcome) || outcome.result.isError !== true) return head
  return { ...head, outcome: { result: { isError: true, content: [{ type: 'text', text: failureText(outcome.result) }] } } }
}

/** When a task is deleted, in milliseconds since 1970. */
export const expiryOf = ({ createdAt, ttlMs }: Pick<TaskRecord, 'createdAt' | 'ttlMs'>): number => createdAt + ttlMs

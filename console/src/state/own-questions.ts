/** Whether a question was caused by what the person just did in this window. Only such a question may open a dialog. */

import type { OperationView } from '../../../src/console/api.ts'
import type { ConsoleState, WaitingQuestion } from './console-state.ts'

/** The first question, oldest first, that this window caused. */
export function ownQuestion(state: ConsoleState): WaitingQuestion | undefined {
  return state.questions.find((question) => question.end === undefined && isOwn(state, question))
}

function isOwn({ own, operations }: ConsoleState, { view, server }: WaitingQuestion): boolean {
  if (!view) return false
  const { chain, askedAt } = view.question
  // A model or another server stands between the person and the question: it was not this click.
  if (chain.some((each) => each.startsWith('model '))) return false
  return operations.some(
    (operation) =>
      own.has(operation.id) &&
      operation.state === 'running' &&
      operation.kind !== 'chat' &&
      operation.startedAt <= askedAt + 1_000 &&
      concerns(operation, server),
  )
}

function concerns({ target }: OperationView, server: string): boolean {
  if (typeof target !== 'string') return target.server === server
  return target === server || target.startsWith(`${server}__`) || target.includes('://')
}

/** Whether a question was caused by what the person just did in this window. Only such a question may open a dialog. */

import type { OperationView, QuestionView } from '../../../src/console/api.ts'
import type { ConsoleState, WaitingQuestion } from './console-state.ts'

/** The first question, oldest first, that this window caused. */
export function ownQuestion(state: ConsoleState): WaitingQuestion | undefined {
  return state.questions.find((question) => question.end === undefined && isOwn(state, question))
}

/** Whether a model caused the question. */
const isOfModel = (view: QuestionView | undefined): boolean => view?.question.chain.some((each) => each.startsWith('model ')) ?? false

function isOwn({ own, operations, announced }: ConsoleState, { view, server, action }: WaitingQuestion): boolean {
  if (!view) return false
  const { askedAt } = view.question
  // A model stands between the person and the question: it was not this click.
  if (isOfModel(view)) return false
  // The person has enabled the server, and it is in use. The rest can wait until they click Review.
  const isRest = action === 'server.approve' && announced.has(server)
  return operations.some(
    (operation) =>
      own.has(operation.id) &&
      operation.state === 'running' &&
      operation.kind !== 'chat' &&
      (!isRest || operation.kind === 'approve') &&
      operation.startedAt <= askedAt + 1_000 &&
      concerns(operation, server, action),
  )
}

/** Questions that a request of the server causes. */
const BY_SERVER = /^(?:elicit|sampling|roots)\./

function concerns({ target, server: used }: OperationView, server: string, action: string): boolean {
  if (used !== undefined) return used === server
  if (typeof target !== 'string') return target.server === server
  // An address does not name its server. Another server must not open a dialog while it is read.
  if (target.includes('://')) return !BY_SERVER.test(action)
  return target === server
}

/** How a no reaches whoever wanted something: as an error that says who said it, and why. */

import { McpError } from '../../../protocol/errors.ts'
import type { Action, Decision } from '../../model/action.ts'
import type { Answer } from '../../model/question.ts'

/** What stands in `data` of the error. */
export interface RefusalData {
  by: 'policy' | 'person'
  server: string
  primitive?: string
  reasons: readonly string[]
  /** The person closed the question without an answer. */
  isCancelled?: boolean
  /** What the person said to whoever wanted it. */
  feedback?: string
}

export function refusalOf(action: Action, decision: Decision, answer: Answer | undefined): McpError {
  const reasons = decision.reasons.map(({ text }) => text)
  const { server, primitive } = action
  const about = { server: server.id, ...(primitive && { primitive: primitive.name }), reasons }
  if (answer && answer.kind !== 'allow') {
    const isCancelled = answer.kind === 'cancel'
    const feedback = answer.kind === 'deny' && answer.feedback ? answer.feedback : undefined
    const data: RefusalData = { by: 'person', ...about, ...(isCancelled && { isCancelled }), ...(feedback !== undefined && { feedback }) }
    const words = isCancelled ? 'was not answered' : 'was refused by a person'
    return new McpError('ERR_DENIED', `${nameOf(action)} ${words}${feedback === undefined ? '' : `: ${feedback}`}`, { data })
  }
  const data: RefusalData = { by: 'policy', ...about }
  if (decision.effect === 'quarantine') {
    return new McpError('ERR_QUARANTINED', `${nameOf(action)} is in quarantine: ${reasons[0]}`, { data })
  }
  return new McpError('ERR_DENIED', `${nameOf(action)} is not allowed: ${reasons[0]}`, { data })
}

/** For people and for models: `tool.call of notes/add`. */
export const nameOf = ({ kind, server, primitive }: Action): string => `${kind} of ${server.id}${primitive ? `/${primitive.name}` : ''}`

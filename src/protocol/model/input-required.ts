/** Questions in the stateless dialect: the server answers with questions, and the client repeats the request with answers. */

import type { Result } from './base.ts'
import type { ElicitParams, ElicitResult } from './elicitation.ts'
import type { ListRootsResult } from './roots.ts'
import type { CreateMessageParams, CreateMessageResult } from './sampling.ts'

export type InputRequest =
  | { method: 'elicitation/create'; params: ElicitParams }
  | { method: 'sampling/createMessage'; params: CreateMessageParams }
  | { method: 'roots/list'; params?: Record<string, unknown> }

export type InputResponse = ElicitResult | CreateMessageResult | ListRootsResult

export type InputRequests = Record<string, InputRequest>

export type InputResponses = Record<string, InputResponse>

export interface InputRequiredResult extends Result {
  resultType: 'input_required'
  inputRequests?: InputRequests
  /** Opaque to the client, which returns it unchanged. */
  requestState?: string
}

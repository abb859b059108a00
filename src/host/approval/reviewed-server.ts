/** The input of a review: one server, and some services of the host. */

import type { Gate } from '../consent/gate/gate.ts'
import type { ActionServer, PinState } from '../model/action.ts'
import type { Offering, PrimitiveKind } from '../model/offering.ts'
import type { Question } from '../model/question.ts'
import type { PinStore } from './pin-store.ts'

export interface ReviewedServer {
  readonly id: string
  readonly facts: ActionServer
  /** The server as questions show it. */
  readonly shown: Question['server']
  /** Undefined before the server was listed for the first time. */
  readonly offering: Offering | undefined
  /** The offering was read without faults. */
  readonly isListedWhole: boolean
  /** The person answered the question about the current start, now or before, or it is the developer's own server. */
  readonly isStartedByPerson: boolean
  /** The protocol revision, if the person chose it. */
  readonly chosenRevision?: string | undefined
  /** Aborted when the server is closed. */
  readonly ending: AbortSignal
  stateOf(kind: PrimitiveKind, name: string): PinState
}

export interface ReviewServices {
  gate: Gate
  pins: PinStore
  /** The host's own conversation. Reviews do not belong to a conversation with a model. */
  ownConversation: { readonly id: string }
  wallNow(): number
}

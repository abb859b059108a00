/** The services of a host that actions use. */

import type { PinStore } from '../approval/pin-store.ts'
import type { Gate } from '../consent/gate/gate.ts'
import type { ActionKind } from '../model/action.ts'
import type { Redactor } from '../secrets/redactor.ts'
import type { LastArguments } from './last-arguments.ts'

export interface ActionServices {
  gate: Gate
  pins: PinStore
  redactor: Redactor
  /** The arguments that the person agreed to last, by server and tool. */
  lastArguments: LastArguments
  maxResultBytes: number
  /** Whether a rule of the policy is about this kind of action. */
  hasRules(kind: ActionKind): boolean
  wallNow(): number
}

/** What the parts of a host share. */

import type { Clock } from '../../base/clock.ts'
import type { LastArguments } from '../actions/last-arguments.ts'
import type { PinStore } from '../approval/pin-store.ts'
import type { Gate } from '../consent/gate/gate.ts'
import type { UsageCounter } from '../consent/usage.ts'
import type { ActionKind } from '../model/action.ts'
import type { Run } from '../model/run.ts'
import type { Redactor } from '../secrets/redactor.ts'
import type { Vault } from '../secrets/vault.ts'

export interface HostServices {
  gate: Gate
  pins: PinStore
  /** Opened when a secret is needed for the first time: it may need a keychain or a passphrase. */
  vault(): Promise<Vault>
  redactor: Redactor
  /** What the host does for itself, and for the person without a conversation. */
  run: Run
  usage: UsageCounter
  /** What the person agreed to the last time, by server and tool. */
  lastArguments: LastArguments
  maxResultBytes: number
  /** Whether any rule is about this kind of action. */
  hasRules(kind: ActionKind): boolean
  principal: string
  project: string
  clock: Clock
  wallNow(): number
}

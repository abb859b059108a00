/** What the parts of a host share. */

import type { Clock } from '../base/clock.ts'
import type { ActionKind } from './consent/action.ts'
import type { UsageCounter } from './consent/usage.ts'
import type { Gate } from './gate/gate.ts'
import type { LastArguments } from './last-arguments.ts'
import type { PinStore } from './pins/pin-store.ts'
import type { Run } from './run.ts'
import type { Redactor } from './vault/redactor.ts'
import type { Vault } from './vault/vault.ts'

export interface HostParts {
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

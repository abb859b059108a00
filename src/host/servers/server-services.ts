/** The services of a host that its servers use. */

import type { PinStore } from '../approval/pin-store.ts'
import type { Gate } from '../consent/gate/gate.ts'
import type { GrantStore } from '../consent/grants/grant-store.ts'
import type { Conversation } from '../conversation/chat/conversation.ts'
import type { Redactor } from '../secrets/redactor.ts'
import type { Vault } from '../secrets/vault.ts'

/** A task that asks a question. */
export interface AskingTask {
  /** The id in this host. */
  id: string
  tool: string
  conversation: Conversation
}

export interface ServerServices {
  gate: Gate
  pins: PinStore
  grants: GrantStore
  /** Opens the vault with the first call, because that may need a keychain or a passphrase. */
  vault(): Promise<Vault>
  redactor: Redactor
  /** The scope of actions that belong to no conversation with a model. */
  ownConversation: Conversation
  /** The task of this host for a task id of the server. Undefined if the host does not follow that task. */
  taskOf(server: string, taskId: string): AskingTask | undefined
  /** The folder of the project. */
  project: string
}

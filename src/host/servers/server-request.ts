/** Describes to the gate an action that a server asks for, or that the host does because of a server. */

import type { ActionRequest } from '../consent/gate/gate.ts'
import type { ActionKind, Initiator } from '../model/action.ts'
import type { Subject } from '../model/question.ts'
import type { HostedServer } from './hosted-server.ts'
import type { ServerServices } from './server-services.ts'

export interface ServerRequestOptions extends Pick<ActionRequest, 'edit' | 'signal'> {
  subject(): Subject
  /** Default: the server. */
  initiator?: Initiator
  isConfigured?: true | undefined
  /** Whether the server asked for the action, even if another part of the host performs it. Default: true if the server is the initiator. */
  isAskedByServer?: boolean
}

/** The action belongs to the conversation that is using the server, if there is exactly one. */
export function serverRequest(
  { ownConversation }: Pick<ServerServices, 'ownConversation'>,
  server: HostedServer,
  kind: ActionKind,
  args: Readonly<Record<string, unknown>> | (() => Readonly<Record<string, unknown>>),
  { subject, initiator = 'server', isConfigured, isAskedByServer = initiator === 'server', edit, signal }: ServerRequestOptions,
): ActionRequest {
  const conversation = server.onlyConversation ?? ownConversation
  return {
    describe: () => ({
      kind,
      run: conversation.id,
      turn: conversation.turn,
      initiator,
      ...(isConfigured && { isConfigured }),
      server: server.facts,
      // The pin state of the capabilities quarantines the requests of a server that is not approved.
      ...(isAskedByServer && { primitive: server.primitive('capabilities', 'capabilities') }),
      claimed: {},
      asserted: {},
      args: typeof args === 'function' ? args() : args,
      labels: [],
    }),
    subject,
    server: server.shown,
    chain: ['you', `server ${server.id}`],
    ...(edit && { edit }),
    ...(signal && { signal }),
  }
}

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
  /** The server's id of the task that asks. Default: none. */
  task?: string | undefined
}

/** The action belongs to the conversation of the task that asks, or to the one that is using the server, if there is exactly one. */
export function serverRequest(
  { ownConversation, taskOf }: Pick<ServerServices, 'ownConversation' | 'taskOf'>,
  server: HostedServer,
  kind: ActionKind,
  args: Readonly<Record<string, unknown>> | (() => Readonly<Record<string, unknown>>),
  {
    subject,
    initiator = 'server',
    isConfigured,
    isAskedByServer = initiator === 'server',
    edit,
    signal,
    task: taskId,
  }: ServerRequestOptions,
): ActionRequest {
  const asking = taskId === undefined ? undefined : taskOf(server.id, taskId)
  const conversation = asking?.conversation ?? server.onlyConversation ?? ownConversation
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
    ...(asking && {
      task: { id: asking.id, tool: asking.tool },
      because: [`The task ${asking.id} asks, a call of ${JSON.stringify(asking.tool)}`],
    }),
    ...(edit && { edit }),
    ...(signal && { signal }),
  }
}

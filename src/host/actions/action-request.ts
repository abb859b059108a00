/** Describes to the gate how a server is used. */

import type { CallOptions } from '../../client/options.ts'
import type { Tool } from '../../protocol/model/tools.ts'
import type { ActionRequest } from '../consent/gate/gate.ts'
import type { Conversation } from '../conversation/chat/conversation.ts'
import type { ActionKind, ActionPrimitive, Initiator } from '../model/action.ts'
import type { HostedServer } from '../servers/hosted-server.ts'

export interface UseOptions extends Pick<CallOptions, 'signal' | 'onProgress' | 'timeoutMs' | 'maxTotalMs'> {
  conversation: Conversation
  initiator: Initiator
  /** Who wants the action, starting with the person. For people. */
  chain: readonly string[]
}

/** @param current the target and the arguments at the time of the call: both can change while the person is asked */
export function useRequest(
  server: HostedServer,
  kind: ActionKind,
  { conversation, initiator, chain, signal }: UseOptions,
  current: () => { primitive?: ActionPrimitive; args: Readonly<Record<string, unknown>> },
): Omit<ActionRequest, 'subject'> {
  return {
    describe: () => {
      const { primitive, args } = current()
      const tool = primitive?.kind === 'tool' ? (server.definition('tool', primitive.name) as Tool | undefined) : undefined
      const { labels, untrustedSince } = conversation.flow()
      return {
        kind,
        run: conversation.id,
        turn: conversation.turn,
        initiator,
        server: server.facts,
        ...(primitive && { primitive }),
        claimed: tool?.annotations ?? {},
        asserted: primitive ? server.asserted(primitive.name) : {},
        args,
        labels,
        ...(untrustedSince !== undefined && { untrustedSince }),
      }
    },
    server: server.shown,
    chain: [...chain, `server ${server.id}`],
    ...(signal && { signal }),
  }
}

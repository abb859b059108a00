/** Describes to the gate how a server is used. */

import type { CallOptions } from '../../client/options.ts'
import { McpError } from '../../protocol/errors.ts'
import type { Tool } from '../../protocol/model/tools.ts'
import type { ActionRequest } from '../consent/gate/gate.ts'
import { mayCarryPrivateText } from '../consent/guards.ts'
import type { Conversation } from '../conversation/chat/conversation.ts'
import type { ActionKind, ActionPrimitive, Initiator } from '../model/action.ts'
import type { HostedServer } from '../servers/hosted-server.ts'

export interface UseOptions extends Pick<CallOptions, 'signal' | 'onProgress' | 'timeoutMs' | 'maxTotalMs'> {
  conversation: Conversation
  initiator: Initiator
  /** Who wants the action, starting with the person. Questions show it. */
  chain: readonly string[]
}

interface GivenOptions extends Omit<UseOptions, 'conversation' | 'initiator' | 'chain'> {
  as?: 'model' | 'person'
  conversation?: Conversation
}

/** Adds to the program's options who wants the action. */
export function useOptions(
  { ownConversation }: { ownConversation: Conversation },
  { as = 'model', conversation = ownConversation, ...options }: GivenOptions,
): UseOptions {
  if (as !== 'model' && as !== 'person') {
    throw new McpError('ERR_INVALID_PARAMS', `Expected "model" or "person" for the option "as", got ${JSON.stringify(as)}`)
  }
  return as === 'person' ? { ...options, conversation, initiator: 'user', chain: ['you'] } : { ...options, ...byModel(conversation) }
}

/** @param model its name, for questions to the person */
export const byModel = (conversation: Conversation, model?: string): UseOptions => ({
  conversation,
  initiator: 'model',
  chain: ['you', model === undefined ? 'model' : `model ${model}`],
})

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
      const flow = conversation.flow()
      const { labels, untrustedSince } = flow
      // Only decisions about accepted tools depend on it, and the search costs time.
      const hasTextOfOthers = primitive?.isAcceptedReadOnly === true && flow.hasTextOfOthers(server.id, args)
      const hasPrivateText = mayCarryPrivateText(kind, labels) && flow.originsOf(args).length > 0
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
        ...(hasTextOfOthers && { hasTextOfOthers }),
        ...(hasPrivateText && { hasPrivateText }),
      }
    },
    server: server.shown,
    chain: [...chain, `server ${server.id}`],
    ...(signal && { signal }),
  }
}

/** How a use of a server is described to the gate. */

import type { CallOptions } from '../../client/options.ts'
import type { Tool } from '../../protocol/model/tools.ts'
import type { ActionRequest } from '../consent/gate/gate.ts'
import type { ActionKind, ActionPrimitive, Initiator } from '../model/action.ts'
import type { Run } from '../model/run.ts'
import type { HostedServer } from '../servers/hosted-server.ts'

export interface UseOptions extends Pick<CallOptions, 'signal' | 'onProgress' | 'timeoutMs' | 'maxTotalMs'> {
  run: Run
  initiator: Initiator
  /** Who wants it, from the person on, for people. */
  chain: readonly string[]
}

export function useRequest(
  server: HostedServer,
  kind: ActionKind,
  { run, initiator, chain, signal }: UseOptions,
  now: () => { primitive?: ActionPrimitive; args: Readonly<Record<string, unknown>> },
): Omit<ActionRequest, 'subject'> {
  return {
    describe: () => {
      const { primitive, args } = now()
      const tool = primitive?.kind === 'tool' ? (server.definition('tool', primitive.name) as Tool | undefined) : undefined
      return {
        kind,
        run: run.id,
        turn: run.turn,
        initiator,
        server: server.facts,
        ...(primitive && { primitive }),
        claimed: tool?.annotations ?? {},
        asserted: primitive ? server.asserted(primitive.name) : {},
        args,
        labels: run.flow.labels,
        ...(run.flow.untrustedSince !== undefined && { untrustedSince: run.flow.untrustedSince }),
      }
    },
    server: server.shown,
    chain: [...chain, `server ${server.id}`],
    ...(signal && { signal }),
  }
}

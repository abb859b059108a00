/** Sends a request to a server through the gate, and separates the server's errors from the host's. */

import type { Client } from '../../client/client.ts'
import { McpError } from '../../protocol/errors.ts'
import type { CallToolResult } from '../../protocol/model/tools.ts'
import { ActionGoesOn, type ActionRequest, type RecordedPermit } from '../consent/gate/gate.ts'
import type { ActionPrimitive } from '../model/action.ts'
import type { HostedServer } from '../servers/hosted-server.ts'
import type { UseOptions } from './action-request.ts'
import type { ActionServices } from './action-services.ts'

/** The outcome of a use, and how many bytes of it may be admitted. */
export type UseOutcome<T> = { value: T; maxBytes: number } | FailedUse

export interface FailedUse {
  error: unknown
  /** The text of the error, in the shape of a result: a server may have written it. */
  said: CallToolResult
  maxBytes: number
}

/** Calls `send` if the gate permits it. Rejects only with errors of the host itself. */
export async function performUse<T>(
  { gate, maxResultBytes }: Pick<ActionServices, 'gate' | 'maxResultBytes'>,
  request: ActionRequest,
  { signal }: UseOptions,
  send: (permit: RecordedPermit) => Promise<T>,
): Promise<UseOutcome<T>> {
  // Rules about the use can lower the bound. Rules about results can lower it further.
  let maxBytes = maxResultBytes
  let failure: unknown
  try {
    const value = await gate.run(
      request,
      async (permit) => {
        maxBytes = Math.min(maxBytes, permit.decision.limits.resultBytes ?? maxBytes)
        try {
          return await send(permit)
        } catch (error) {
          failure = error
          throw error
        }
      },
      (result) => ({ resultBytes: sizeOf(result), ...(isToolError(result) && { isToolError: true }) }),
    )
    return { value, maxBytes }
  } catch (error) {
    if (error !== failure || signal?.aborted || isFromHost(error)) throw error
    return failedUse(error, maxBytes)
  }
}

/** The outcome of a use that failed because of the server. */
export const failedUse = (error: unknown, maxBytes: number): FailedUse => ({ error, said: errorAsResult(error), maxBytes })

const isToolError = (result: unknown): boolean => (result as Partial<CallToolResult> | undefined)?.isError === true

/**
 * Sends with the server's client. Before that it checks the pin again, after the client has connected and read its lists, because the
 * server may have been replaced since the decision.
 * @param expected the pin of the definition that `send` uses, if it was taken before
 */
export const sendPinned = <T>(
  server: HostedServer,
  primitive: Pick<ActionPrimitive, 'kind' | 'name'>,
  { conversation, signal }: UseOptions,
  send: (client: Client) => Promise<T>,
  expected?: string,
): Promise<T> =>
  server.during(conversation, () =>
    server.use(
      async (client) => {
        await server.checkPinned(primitive, expected)
        return send(client)
      },
      { signal },
    ),
  )

/**
 * Errors of the host that contain no foreign text. All others can contain foreign text: the answer of a server, its last words before
 * it ended, the answer of an authorization server or a proxy.
 */
const HOST_ERRORS: ReadonlySet<unknown> = new Set([
  'ERR_TIMEOUT',
  'ERR_QUARANTINED',
  'ERR_DENIED',
  'ERR_CONSENT',
  'ERR_AUDIT',
  'ERR_BUDGET',
])

const isFromHost = (error: unknown): boolean => error instanceof ActionGoesOn || (error instanceof McpError && HOST_ERRORS.has(error.code))

function errorAsResult(error: unknown): CallToolResult {
  const { message, data } = (error ?? {}) as { message?: unknown; data?: unknown }
  const text = typeof message === 'string' ? message : 'no reason was given'
  return { content: [{ type: 'text', text }], ...(data !== undefined && { structuredContent: data }), isError: true }
}

export const sizeOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value) ?? '')

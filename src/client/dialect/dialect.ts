/** What the rest of the client needs to know of the way it talks to a server. */

import { isObject } from '../../base/json.ts'
import { METHOD_NOT_FOUND, type Params } from '../../jsonrpc/message.ts'
import { RemoteError } from '../../jsonrpc/remote-error.ts'
import { McpError } from '../../protocol/errors.ts'
import { METHODS } from '../../protocol/methods.ts'
import { type Implementation, META } from '../../protocol/model/base.ts'
import type { ServerCapabilities } from '../../protocol/model/lifecycle.ts'
import type { LogLevel } from '../../protocol/model/logging.ts'
import type { SubscriptionFilter } from '../../protocol/model/subscriptions.ts'
import type { Change } from '../../protocol/seams/ports.ts'
import type { Revision } from '../../revisions/revision.ts'
import type { CallOptions } from '../options.ts'

/** What a server says of itself. For display: none of it is proof. */
export interface ServerDescription {
  info: Implementation
  capabilities: ServerCapabilities
  instructions: string | undefined
}

export interface ClientDialect {
  readonly revision: Revision
  readonly server: ServerDescription
  /** Sends a request of the neutral model; resolves with a complete result, whatever rounds that takes. */
  request(method: string, params: Params, options: CallOptions): Promise<Params>
  setLogLevel(level: LogLevel): Promise<void>
  /** Makes these, and only these, changes known; resolves when the server has agreed. */
  listenTo(filter: SubscriptionFilter): Promise<void>
  /** The directories given by the client are others now. */
  announceRoots(): void
  /** What is declared has changed; throws where that was settled when the session began. */
  refreshCapabilities(): void
  close(): void
}

/** Why a request cannot be sent: the server would not understand it, or has not offered it. Undefined when it can. */
export function checkSendable(method: string, { capabilities }: ServerDescription, revision: Revision): McpError | undefined {
  const row = METHODS.get(method)
  if (!row) return undefined
  if (!revision.has(method)) return new McpError('ERR_UNSUPPORTED', `Protocol revision ${revision.version} has no ${method}`)
  if (row.capability === undefined || isDeclared(row.capability, capabilities)) return undefined
  if (row.capability === 'completions' && revision.completesUnannounced) return undefined
  // Some servers have a list and forget to say so; others say in their refusal why they have none.
  if (LISTS.has(method)) return undefined
  return missing(method, row.capability)
}

const LISTS = new Set(['tools/list', 'prompts/list', 'resources/list', 'resources/templates/list'])

/** Has a server that never said it had a list, and has none, refuse it in the words of any missing capability. */
export function explainRefusal(method: string, answer: Promise<Params>, { capabilities }: ServerDescription): Promise<Params> {
  const capability = METHODS.get(method)?.capability
  if (!LISTS.has(method) || capability === undefined || isDeclared(capability, capabilities)) return answer
  return answer.catch((error: unknown) => {
    throw error instanceof RemoteError && error.code === METHOD_NOT_FOUND ? missing(method, capability, error) : error
  })
}

const missing = (method: string, capability: string, cause?: unknown): McpError =>
  new McpError('ERR_CAPABILITY_MISSING', `${method} needs the server capability ${capability}, which was not declared`, { cause })

function isDeclared(capability: string, capabilities: ServerCapabilities): boolean {
  const dot = capability.indexOf('.')
  if (dot < 0) return isObject(capabilities[capability as keyof ServerCapabilities])
  const feature: unknown = capabilities[capability.slice(0, dot) as keyof ServerCapabilities]
  return isObject(feature) && feature[capability.slice(dot + 1)] === true
}

/** What makes a result invalid whatever else it holds: a type that the request cannot have. Servers before types sent complete results only. */
export function checkResultType(method: string, { resultType }: Params): McpError | undefined {
  if (resultType === undefined || resultType === 'complete') return undefined
  const row = METHODS.get(method)
  // The results of methods of extensions are the extension's business.
  if (!row || (row.mayAsk && resultType === 'input_required')) return undefined
  const known = row.mayAsk ? '"complete" or "input_required"' : '"complete"'
  return new McpError('ERR_ANSWER_INVALID', `The result of ${method} has the type ${shown(resultType)}; known is ${known}`)
}

const shown = (value: unknown): string => (typeof value === 'string' ? JSON.stringify(value.slice(0, 100)) : `a ${typeof value}`)

/** The change a notification tells of, if it is one. */
export function changeIn(method: string, params: Params | undefined): Change | undefined {
  switch (method) {
    case 'notifications/tools/list_changed':
      return { kind: 'tools' }
    case 'notifications/prompts/list_changed':
      return { kind: 'prompts' }
    case 'notifications/resources/list_changed':
      return { kind: 'resources' }
    case 'notifications/resources/updated': {
      const uri = params?.uri
      return typeof uri === 'string' ? { kind: 'resource', uri } : undefined
    }
    default:
      return undefined
  }
}

/** Who a stateless server says it is, in any of its results. */
export const serverInfoIn = (result: Params): Implementation | undefined =>
  isObject(result._meta) ? implementationIn(result._meta[META.serverInfo]) : undefined

export const implementationIn = (info: unknown): Implementation | undefined =>
  isObject(info) && typeof info.name === 'string' && typeof info.version === 'string' ? (info as unknown as Implementation) : undefined

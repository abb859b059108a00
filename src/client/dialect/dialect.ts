/** The interface of the two client dialects, and the checks that both use. */

import { isObject } from '../../base/json.ts'
import { METHOD_NOT_FOUND, type Params } from '../../jsonrpc/message.ts'
import { RemoteError } from '../../jsonrpc/remote-error.ts'
import { McpError } from '../../protocol/errors.ts'
import type { Change } from '../../protocol/interfaces/replaceable-services.ts'
import { METHODS } from '../../protocol/methods.ts'
import { type Implementation, META } from '../../protocol/model/base.ts'
import type { ServerCapabilities } from '../../protocol/model/lifecycle.ts'
import type { LogLevel } from '../../protocol/model/logging.ts'
import type { SubscriptionFilter } from '../../protocol/model/subscriptions.ts'
import type { Revision } from '../../revisions/revision.ts'
import type { SentOptions } from '../options.ts'

/** How a server describes itself. Not verified. */
export interface ServerDescription {
  info: Implementation
  capabilities: ServerCapabilities
  /** Instructions for the model. */
  instructions: string | undefined
}

export interface ClientDialect {
  readonly revision: Revision
  readonly server: ServerDescription
  /** Sends a request. Resolves with the complete result, after any number of rounds. */
  request(method: string, params: Params, options: SentOptions): Promise<Params>
  setLogLevel(level: LogLevel): Promise<void>
  /** Subscribes to exactly these changes. Resolves when the server has agreed. */
  listenTo(filter: SubscriptionFilter): Promise<void>
  /** Sends a notification of an extension. Throws ERR_UNSUPPORTED where servers take none. */
  notify(method: string, params: Params): void
  /** Notifies the server that the roots changed. */
  announceRoots(): void
  /** Applies changed capabilities. Throws if the session cannot change them. */
  refreshCapabilities(): void
  close(): void
}

/** Returns an error if the revision does not have the method or the server has not declared its capability. */
export function checkSendable(method: string, { capabilities }: ServerDescription, revision: Revision): McpError | undefined {
  const row = METHODS.get(method)
  if (!row) return undefined
  if (!revision.has(method)) return new McpError('ERR_UNSUPPORTED', `Protocol revision ${revision.version} has no ${method}`)
  if (row.capability === undefined || isDeclared(row.capability, capabilities)) return undefined
  if (row.capability === 'completions' && revision.completesUnannounced) return undefined
  // Some servers have a list without declaring it, and others explain in their error why they have none.
  if (LISTS.has(method)) return undefined
  return missing(method, row.capability)
}

const LISTS = new Set(['tools/list', 'prompts/list', 'resources/list', 'resources/templates/list'])

/** Turns "method not found" for a list that was not declared into ERR_CAPABILITY_MISSING. */
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

/**
 * Returns an error if the result has a type that the method cannot have. Older servers send complete results without a type.
 *
 * @param hasTasks whether the client declared the extension for tasks
 */
export function checkResultType(method: string, { resultType }: Params, hasTasks = false): McpError | undefined {
  if (resultType === undefined || resultType === 'complete') return undefined
  const row = METHODS.get(method)
  // Results of extension methods are not checked.
  if (!row || (row.mayAsk && resultType === 'input_required') || (hasTasks && row.mayBecomeTask && resultType === 'task')) return undefined
  const known = row.mayAsk ? '"complete" or "input_required"' : '"complete"'
  return new McpError('ERR_ANSWER_INVALID', `The result of ${method} has the type ${shown(resultType)}, expected ${known}`)
}

const shown = (value: unknown): string => (typeof value === 'string' ? JSON.stringify(value.slice(0, 100)) : `a ${typeof value}`)

/** Errors after which the client tries again: failures of the network, not decisions of the server. */
const PASSING = new Set<unknown>(['ERR_NETWORK', 'ERR_CLOSED', 'ERR_TIMEOUT', 'ERR_HTTP'])
export const mayPass = (error: unknown): boolean => error instanceof McpError && PASSING.has(error.code)

/** The change that a notification reports; undefined for other notifications. */
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

/** The server's description in a stateless result. */
export const serverInfoIn = (result: Params): Implementation | undefined =>
  isObject(result._meta) ? implementationIn(result._meta[META.serverInfo]) : undefined

export const implementationIn = (info: unknown): Implementation | undefined =>
  isObject(info) && typeof info.name === 'string' && typeof info.version === 'string' ? (info as unknown as Implementation) : undefined

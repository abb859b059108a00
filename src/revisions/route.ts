/** Decides which revision a request uses, from the request and its session. */

import { asText } from '../base/as-text.ts'
import { isObject } from '../base/json.ts'
import type { Incoming, Params, RequestMessage } from '../jsonrpc/message.ts'
import { McpError } from '../protocol/errors.ts'
import { META } from '../protocol/model/base.ts'
import { isLogLevel } from '../protocol/model/logging.ts'
import { r20250326 } from './2025-03-26.ts'
import { describeRevisions, REVISIONS, revisionOf } from './index.ts'
import { answerHandshake } from './negotiate.ts'
import type { Revision } from './revision.ts'

export type Route = { revision: Revision; error?: undefined } | { revision: Revision; error: McpError }

/**
 * @param session the revision agreed on in the handshake, if any
 * @param supported the revisions of this server
 */
export function route(
  message: Pick<RequestMessage, 'method' | 'params'>,
  session: Revision | undefined,
  supported: readonly Revision[],
): Route {
  const version = versionIn(message)
  if (version !== undefined) return routeStateless(message.params?._meta as Params, version, supported)
  if (message.method === 'initialize') return routeHandshake(message.params?.protocolVersion, supported)
  if (session) return { revision: session }
  const fallback = answerHandshake('', supported) ?? (supported.at(-1) as Revision)
  // Ping is allowed before the handshake.
  if (message.method === 'ping' && fallback.has('ping')) return { revision: fallback }
  // Only a stateless revision has the method, so the version is missing in the request.
  const owner = supported.find(
    (revision) => revision.dialect === 'stateless' && revision.has(message.method) && isStatelessOnly(message.method),
  )
  if (owner) return { revision: owner, error: new McpError('ERR_INVALID_PARAMS', `params._meta must have ${META.protocolVersion}`) }
  return {
    revision: fallback,
    error: new McpError('ERR_INVALID_REQUEST', `${message.method} arrived before initialize; send initialize first`),
  }
}

/** The version of an HTTP request without a version header and without a session. */
export const VERSION_WITHOUT_HEADER = r20250326.version

/** The version in the metadata of a request. */
function versionIn(message: Pick<RequestMessage, 'params'>): unknown {
  const meta = message.params?._meta
  return isObject(meta) ? meta[META.protocolVersion] : undefined
}

/** Whether a message over HTTP is stateless, by its metadata or by the version in its header. */
export function isStateless(message: Incoming, version: string | undefined): boolean {
  if (message.kind === 'request') {
    if (versionIn(message) !== undefined) return true
    if (message.method === 'initialize') return false
  }
  return revisionOf(version)?.dialect === 'stateless'
}

/** Checks that the version header of a stateless request is the version in the request. */
export function checkVersionHeader(
  message: RequestMessage,
  header: string | undefined,
  supported: readonly Revision[],
): McpError | undefined {
  const version = versionIn(message)
  if (version !== undefined && version === header) return undefined
  const data = { supported: supported.map((revision) => revision.version) }
  if (header === undefined) return new McpError('ERR_HEADER_MISMATCH', 'Header mismatch: MCP-Protocol-Version is missing', { data })
  if (version === undefined) return new McpError('ERR_INVALID_PARAMS', `params._meta must have ${META.protocolVersion}`)
  const difference = `MCP-Protocol-Version says ${JSON.stringify(header)}, but the message says ${JSON.stringify(version)}`
  return new McpError('ERR_HEADER_MISMATCH', `Header mismatch: ${difference}`, { data })
}

/** The handshake is answered in the revision that it negotiates. */
function routeHandshake(requested: unknown, supported: readonly Revision[]): Route {
  const revision = answerHandshake(asText(requested), supported)
  if (revision) return { revision }
  const spoken = describeRevisions(supported)
  const data = { supported: supported.map(({ version }) => version), requested: requested ?? null }
  return {
    revision: supported.at(-1) as Revision,
    error: new McpError('ERR_METHOD_NOT_FOUND', `This server has no initialize; it supports ${spoken}`, { data }),
  }
}

function routeStateless(meta: Params, version: unknown, supported: readonly Revision[]): Route {
  const revision = supported.find((each) => each.version === version && each.dialect === 'stateless')
  if (!revision) {
    const latest = supported.findLast(({ dialect }) => dialect === 'stateless') ?? (REVISIONS.at(-1) as Revision)
    const data = { supported: supported.map((each) => each.version), requested: version }
    return { revision: latest, error: new McpError('ERR_VERSION_UNSUPPORTED', 'Unsupported protocol version', { data }) }
  }
  const missing = checkMeta(meta)
  return missing ? { revision, error: new McpError('ERR_INVALID_PARAMS', missing) } : { revision }
}

function checkMeta(meta: Params): string | undefined {
  if (!isObject(meta[META.clientCapabilities])) return `params._meta must have ${META.clientCapabilities}, an object`
  const info = meta[META.clientInfo]
  if (info !== undefined && !isObject(info)) return `params._meta.${META.clientInfo} must be an object`
  const level = meta[META.logLevel]
  if (level !== undefined && !isLogLevel(level)) return `params._meta.${META.logLevel} is not a log level: ${JSON.stringify(level)}`
  return undefined
}

const isStatelessOnly = (method: string): boolean =>
  REVISIONS.every((revision) => revision.dialect === 'stateless' || !revision.has(method))

/** Checks that headers agree with the message whose parts they repeat: proxies route by the headers, the server acts on the body. */

import type { NotificationMessage, Params, RequestMessage } from '../../jsonrpc/message.ts'
import type { Service } from '../../protocol/interfaces/service.ts'
import { integerOf, type ParamHeader, valueAt } from '../../protocol/model/param-headers.ts'
import type { Revision } from '../../revisions/revision.ts'
import { decodeHeaderValue } from '../header-value.ts'
import { about, type Refusal, refuse } from './refusal.ts'
import type { HttpRequestView } from './runtime/request-reply.ts'

/** The parameter that `Mcp-Name` repeats. */
const NAMED: Readonly<Record<string, string>> = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
  'tasks/get': 'taskId',
  'tasks/update': 'taskId',
  'tasks/cancel': 'taskId',
}
const named: ReadonlyMap<string, string> = new Map(Object.entries(NAMED))

/**
 * Compares the headers with the message that they repeat.
 * @param isRequired whether a missing header is a mismatch
 * @param revision gives the error its code
 */
export function checkMirroredHeaders(
  request: HttpRequestView,
  message: RequestMessage | NotificationMessage,
  service: Pick<Service, 'mirroredParams'>,
  isRequired: boolean,
  revision: Revision,
): Refusal | undefined {
  const { method, params } = message
  const member = named.get(method)
  const mismatch =
    checkTextHeader(request, 'Mcp-Method', 'mcp-method', method, isRequired) ??
    (member === undefined ? undefined : checkTextHeader(request, 'Mcp-Name', 'mcp-name', params?.[member], isRequired)) ??
    (method === 'tools/call' ? checkParamHeaders(request, params, service, isRequired) : undefined)
  if (mismatch === undefined) return undefined
  const refusal = refuse(400, `Header mismatch: ${mismatch}`, { code: revision.errorCode('ERR_HEADER_MISMATCH') })
  return about(refusal, message.kind === 'request' ? message.id : undefined)
}

function checkTextHeader(request: HttpRequestView, shown: string, header: string, value: unknown, isRequired: boolean): string | undefined {
  const text = request.header(header)
  if (text === undefined) return isRequired && typeof value === 'string' ? `${shown} is missing` : undefined
  if (text === value && !text.includes(',') && !text.startsWith('=?')) return undefined
  if (request.count(header) > 1) return `${shown} came more than once`
  const decoded = decodeHeaderValue(text)
  if (decoded === undefined) return `${shown} has characters that are not allowed, or invalid Base64`
  return decoded === value ? undefined : `${shown} says ${quoted(decoded)}, but the message says ${quoted(value)}`
}

function checkParamHeaders(
  request: HttpRequestView,
  params: Params | undefined,
  service: Pick<Service, 'mirroredParams'>,
  isRequired: boolean,
): string | undefined {
  const name = params?.name
  if (typeof name !== 'string') return undefined
  for (const mirrored of service.mirroredParams(name)) {
    const mismatch = checkParamHeader(request, mirrored, valueAt(params?.arguments, mirrored.path), isRequired)
    if (mismatch !== undefined) return mismatch
  }
  return undefined
}

function checkParamHeader(request: HttpRequestView, { name, type }: ParamHeader, value: unknown, isRequired: boolean): string | undefined {
  const header = `Mcp-Param-${name}`
  const lower = header.toLowerCase()
  const text = request.header(lower)
  const isGiven = value !== undefined && value !== null
  if (text === undefined) return isGiven && isRequired ? `${header} is missing` : undefined
  if (request.count(lower) > 1) return `${header} came more than once`
  const decoded = decodeHeaderValue(text)
  if (decoded === undefined) return `${header} has characters that are not allowed, or invalid Base64`
  if (!isGiven) return `${header} says ${quoted(decoded)}, but the message has no such argument`
  if (type === 'integer') {
    const said = integerOf(decoded)
    if (said === undefined) return `${header} says ${quoted(decoded)}, which is not an integer from -(2^53)+1 to 2^53-1`
    // Beyond that range two different integers can be the same number here, but not for a proxy that reads the header.
    if (Number.isSafeInteger(value) && said === value) return undefined
  } else if (typeof value !== 'object' && decoded === String(value)) return undefined
  return `${header} says ${quoted(decoded)}, but the message says ${quoted(value)}`
}

const quoted = (value: unknown): string => {
  const text = JSON.stringify(value) ?? 'nothing'
  return text.length > 80 ? `${text.slice(0, 77)}...` : text
}

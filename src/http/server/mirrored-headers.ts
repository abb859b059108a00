/** Headers that repeat parts of the message must say what the message says: proxies decide by them, we act on the body. */

import type { Params } from '../../jsonrpc/message.ts'
import { integerOf, type ParamHeader, valueAt } from '../../protocol/model/param-headers.ts'
import { decodeHeaderValue } from '../header-value.ts'
import type { HttpRequestView } from './runtime/view.ts'

export interface MirroredMessage {
  method: string
  params: Params | undefined
}

/** Which member of the parameters `Mcp-Name` repeats. */
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
 * @param areRequired a header that is missing is as bad as one that is wrong
 * @returns what is wrong, for the sender to read
 */
export function checkMirroredHeaders(
  request: HttpRequestView,
  { method, params }: MirroredMessage,
  mirroredParams: (tool: string) => readonly ParamHeader[],
  areRequired: boolean,
): string | undefined {
  const member = named.get(method)
  return (
    checkTextHeader(request, 'Mcp-Method', 'mcp-method', method, areRequired) ??
    (member === undefined ? undefined : checkTextHeader(request, 'Mcp-Name', 'mcp-name', params?.[member], areRequired)) ??
    (method === 'tools/call' ? checkParamHeaders(request, params, mirroredParams, areRequired) : undefined)
  )
}

function checkTextHeader(request: HttpRequestView, shown: string, header: string, value: unknown, isRequired: boolean): string | undefined {
  const text = request.header(header)
  if (text === undefined) return isRequired && typeof value === 'string' ? `${shown} is missing` : undefined
  if (text === value && !text.includes(',') && !text.startsWith('=?')) return undefined
  if (request.count(header) > 1) return `${shown} came more than once`
  const decoded = decodeHeaderValue(text)
  if (decoded === undefined) return `${shown} has characters that are not allowed, or Base64 that is none`
  return decoded === value ? undefined : `${shown} says ${quoted(decoded)}, the message says ${quoted(value)}`
}

function checkParamHeaders(
  request: HttpRequestView,
  params: Params | undefined,
  mirroredParams: (tool: string) => readonly ParamHeader[],
  areRequired: boolean,
): string | undefined {
  const name = params?.name
  if (typeof name !== 'string') return undefined
  for (const mirrored of mirroredParams(name)) {
    const fault = checkParamHeader(request, mirrored, valueAt(params?.arguments, mirrored.path), areRequired)
    if (fault !== undefined) return fault
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
  if (decoded === undefined) return `${header} has characters that are not allowed, or Base64 that is none`
  if (!isGiven) return `${header} says ${quoted(decoded)}, the message has no such argument`
  if (type === 'integer') {
    const said = integerOf(decoded)
    if (said === undefined) return `${header} says ${quoted(decoded)}, which is no integer from -(2^53)+1 to 2^53-1`
    // Beyond that range two integers may be the same number here, and not to whoever reads the header.
    if (Number.isSafeInteger(value) && said === value) return undefined
  } else if (decoded === String(value)) return undefined
  return `${header} says ${quoted(decoded)}, the message says ${quoted(value)}`
}

const quoted = (value: unknown): string => {
  const text = JSON.stringify(value) ?? 'nothing'
  return text.length > 80 ? `${text.slice(0, 77)}...` : text
}

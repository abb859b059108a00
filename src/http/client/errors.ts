/** The errors of a connection, with their messages. */

import { asText } from '../../base/as-text.ts'
import { certificateAdvice } from '../../base/certificate-advice.ts'
import { McpError } from '../../protocol/errors.ts'
import type { HttpClientLimits } from './options.ts'

/** The headers of one response, in bytes: the default of Node, and as much as our own server accepts. */
export const MAX_HEADER_BYTES = 16 * 1024

const TIMEOUTS = new Set(['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT', 'UND_ERR_CONNECT_TIMEOUT'])

/** The error of a request without a complete response. */
export function networkFault(server: string, error: unknown): McpError {
  if (error instanceof McpError) return error
  const { code, message } = describe(error)
  if (code === 'UND_ERR_HEADERS_OVERFLOW') return new McpError('ERR_LIMIT', `${server} sent more than ${MAX_HEADER_BYTES} bytes of headers`)
  if (code !== undefined && TIMEOUTS.has(code))
    return new McpError('ERR_TIMEOUT', `${server} did not answer in time: ${message}`, { cause: error })
  const advice = certificateAdvice(code)
  return new McpError('ERR_NETWORK', `${server} ${BROKE}${message}${advice === undefined ? '' : `. ${advice}`}`, { cause: error })
}

const BROKE = 'could not be reached, or the connection broke: '

/** The text of a fault, for a sentence about the same server. */
export const reasonOf = (server: string, { message }: McpError): string =>
  message.replaceAll(`${server} ${BROKE}`, '').replaceAll(`${server}: `, '')

/** @param what describes what the server sent */
export const limitFault = (server: string, what: string, limit: keyof HttpClientLimits): McpError =>
  new McpError('ERR_LIMIT', `${server} sent ${what} (limits.${limit})`)

/** @param came describes what the server sent instead */
export const answerFault = (server: string, method: string, expected: string, came: string): McpError =>
  new McpError('ERR_ANSWER_INVALID', `${server} answered ${method} with ${came}; expected ${expected}`)

interface ErrorText {
  code: string | undefined
  message: string
}

/** An attempt to connect to several addresses fails with an AggregateError that has no message of its own. */
function describe(error: unknown): ErrorText {
  const first = error instanceof AggregateError ? (error.errors[0] as unknown) : undefined
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown }
  const words = typeof message === 'string' && message !== '' ? message : first instanceof Error ? first.message : asText(error)
  return { code: typeof code === 'string' ? code : undefined, message: words }
}

/** The beginning of a text from the server, quoted. */
export const excerpt = (text: string): string => JSON.stringify(text.length > 80 ? `${text.slice(0, 77)}...` : text)

/** An HTTP exchange in words: the status, and headers as rows. */

import type { HttpExchangeView } from '../../../src/console/api.ts'

export interface HeaderRow {
  name: string
  value: string
  /** The value is sent, but not shown. */
  isHidden: boolean
}

/** The headers of the request, those with hidden values first. */
export const requestHeaders = ({ headers, hiddenHeaders }: HttpExchangeView): HeaderRow[] => [
  ...hiddenHeaders.map((name) => ({ name, value: '', isHidden: true })),
  ...rowsOf(headers),
]

export const responseHeaders = ({ responseHeaders: headers = {} }: HttpExchangeView): HeaderRow[] => rowsOf(headers)

const rowsOf = (headers: Readonly<Record<string, string>>): HeaderRow[] =>
  Object.entries(headers).map(([name, value]) => ({ name, value, isHidden: value === HIDDEN }))

/** As the host writes it. */
const HIDDEN = '[hidden]'

/** `200 OK`, `401 Unauthorized`, or `no response yet`. */
export function statusText({ status }: Pick<HttpExchangeView, 'status'>): string {
  if (status === undefined) return 'no response yet'
  const words = STATUS_WORDS[status]
  return words === undefined ? String(status) : `${status} ${words}`
}

export const isFailure = ({ status = 0 }: Pick<HttpExchangeView, 'status'>): boolean => status >= 400

/** Those that servers of this protocol answer with. */
const STATUS_WORDS: Readonly<Record<number, string>> = {
  200: 'OK',
  202: 'Accepted',
  204: 'No Content',
  301: 'Moved Permanently',
  302: 'Found',
  307: 'Temporary Redirect',
  308: 'Permanent Redirect',
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  406: 'Not Acceptable',
  409: 'Conflict',
  413: 'Content Too Large',
  415: 'Unsupported Media Type',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
  502: 'Bad Gateway',
  503: 'Service Unavailable',
  504: 'Gateway Timeout',
}

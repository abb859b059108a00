/** A message in forms to paste elsewhere. */

import type { MessageDetails } from '../../../src/console/api.ts'
import { requestHeaders } from './http-view.ts'

/** A command line that sends the message again. Hidden values stay hidden: put your own in. */
export function asCurl({ http, message }: Pick<MessageDetails, 'http' | 'message'>): string {
  if (!http) return ''
  const headers = requestHeaders(http).map(({ name, value, isHidden }) => `  -H ${quoted(`${name}: ${isHidden ? `YOUR ${name}` : value}`)}`)
  const body = message === undefined ? [] : [`  --data-binary ${quoted(JSON.stringify(message))}`]
  return [`curl -X ${quoted(http.method)} ${quoted(http.url)}`, ...headers, ...body].join(' \\\n')
}

/** Quotes a text for a POSIX shell. */
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

/** Checks the URLs that the operator configures. */

import { McpError } from '../../protocol/errors.ts'

/** Accepts https, and http to this machine. Throws ERR_DEFINITION for anything else. */
export function secureUrl(text: string, what: string): URL {
  if (!URL.canParse(text)) throw new McpError('ERR_DEFINITION', `${what} is not a URL: ${JSON.stringify(text)}`)
  const url = new URL(text)
  if (url.username !== '' || url.password !== '') throw new McpError('ERR_DEFINITION', `${what} must not contain a user name`)
  const isLocal = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(url.hostname)
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLocal))
    throw new McpError('ERR_DEFINITION', `${what} must be https: ${JSON.stringify(text)}`)
  return url
}

/** Errors that the peer reports. */

import type { ErrorObject } from './message.ts'

/**
 * The peer answered a request with an error. Failures on this side are `McpError`.
 *
 * @example
 * try {
 *   await client.read('note://42')
 * } catch (error) {
 *   if (error instanceof RemoteError) console.error(error.code, error.message)
 * }
 */
export class RemoteError extends Error {
  override readonly name = 'RemoteError'
  /** The JSON-RPC error code. */
  readonly code: number
  /** Details from the peer, as it sent them. */
  readonly data: unknown

  constructor(error: ErrorObject) {
    super(error.message)
    this.code = error.code
    this.data = error.data
  }
}

/** What the peer said went wrong. What went wrong on this side has its own class, in another layer. */

import type { ErrorObject } from './message.ts'

export class RemoteError extends Error {
  override readonly name = 'RemoteError'
  /** The JSON-RPC error code. */
  readonly code: number
  readonly data: unknown

  constructor(error: ErrorObject) {
    super(error.message)
    this.code = error.code
    this.data = error.data
  }
}

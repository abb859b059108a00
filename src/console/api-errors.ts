/** The errors of the console's API. */

import type { ErrorCode } from '../client/index.ts'

/** The codes of errors: those of the host, and those of the console itself. */
export type ApiErrorCode =
  | ErrorCode
  /** The one-time code is wrong, used or expired (401). */
  | 'ERR_CODE'
  /** The cookie or the token of a session is missing or wrong (401). */
  | 'ERR_SESSION'
  /** The header Host is not the console's (403). */
  | 'ERR_HOST'
  /** Another page caused the request (403). */
  | 'ERR_ORIGIN'
  /** There is no such route (404). */
  | 'ERR_ROUTE'
  /** There is no such thing (404). */
  | 'ERR_NOT_FOUND'
  /** The route has other methods (405). */
  | 'ERR_METHOD'
  /** Something else happened first (409). */
  | 'ERR_CONFLICT'
  /** The body is too large (413). */
  | 'ERR_TOO_LARGE'
  /** The body is not JSON (415). */
  | 'ERR_MEDIA_TYPE'
  /** A server answered with an error (502). */
  | 'ERR_REMOTE'

/** The body of every answer that is not a success. */
export interface ApiErrorBody {
  error: {
    code: ApiErrorCode
    message: string
    data?: unknown
    /** All routes, after ERR_ROUTE. */
    routes?: readonly string[]
  }
}

/** Errors of the API: a code, a text, and what a person can do. */

import type { ApiErrorBody, ApiErrorCode } from '../../../src/console/api.ts'

/** `ERR_OFFLINE`: the console did not answer. `ERR_ANSWER`: the answer is not what the API describes. */
export type ClientErrorCode = ApiErrorCode | 'ERR_OFFLINE' | 'ERR_ANSWER'

export class ApiError extends Error {
  readonly code: ClientErrorCode
  /** The HTTP status. 0: there was no answer. */
  readonly status: number
  readonly data: unknown

  constructor(
    code: ClientErrorCode,
    message: string,
    { status = 0, data, cause }: { status?: number; data?: unknown; cause?: unknown } = {},
  ) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'ApiError'
    this.code = code
    this.status = status
    this.data = data
  }
}

/** The error in an answer that is not a success. */
export async function errorOf(response: Response): Promise<ApiError> {
  const { status } = response
  try {
    const { error } = (await response.json()) as ApiErrorBody
    return new ApiError(error.code, error.message, { status, data: error.data })
  } catch (cause) {
    return new ApiError('ERR_ANSWER', `Expected JSON with an error, got something else with the status ${status}`, { status, cause })
  }
}

/** Any thrown value as an `ApiError`. */
export function asApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error
  const text = error instanceof Error ? error.message : String(error)
  return new ApiError('ERR_OFFLINE', `The console did not answer: ${text}`, { cause: error })
}

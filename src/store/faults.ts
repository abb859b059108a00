/** Tells faults of a store apart by what a process can do about them. */

import { McpError } from '../protocol/errors.ts'

/** Whether the store could not be reached: it may have done what was asked, or not. */
export const isDown = (error: unknown): boolean => error instanceof McpError && error.code === 'ERR_STORE_DOWN'

/** Whether this process has closed the store. No repetition helps. */
export const isClosed = (error: unknown): boolean => error instanceof McpError && error.code === 'ERR_CLOSED'

const notRun = new WeakSet<McpError>()

/** Marks the error of a command that the store has certainly not run. After any other error only the reply may be missing. */
export function markNotRun(error: McpError): McpError {
  notRun.add(error)
  return error
}

export const isNotRun = (error: unknown): boolean => error instanceof McpError && notRun.has(error)

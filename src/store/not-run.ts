/** Marks errors of commands that a store has certainly not run. After any other error only the reply may be missing. */

import { McpError } from '../protocol/errors.ts'

const notRun = new WeakSet<McpError>()

export function markNotRun(error: McpError): McpError {
  notRun.add(error)
  return error
}

export const isNotRun = (error: unknown): boolean => error instanceof McpError && notRun.has(error)

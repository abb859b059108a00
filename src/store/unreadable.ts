/** A value in the store that this replica cannot open: it has other keys, or the value was changed. Trying again does not help. */

import { McpError } from '../protocol/errors.ts'

export const isUnreadable = (error: unknown): boolean => error instanceof McpError && error.code === 'ERR_STORE_KEY'

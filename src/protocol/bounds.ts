/** Bounds that hold on both sides of a conversation. */

import type { ReadBounds } from '../jsonrpc/read.ts'

export const DEFAULT_READ_BOUNDS: ReadBounds = { maxDepth: 64, maxKeys: 10_000, maxBatch: 50 }

export const DEFAULT_MAX_LINE_BYTES = 10 * 1024 * 1024

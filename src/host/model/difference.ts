/** What became of a definition that somebody had approved. */

import type { PrimitiveKind } from './offering.ts'

/** From harmless to not; what changed in several ways has the last of them. */
export const DIFFERENCE_CLASSES = ['cosmetic', 'narrowed', 'removed', 'text', 'downgraded', 'widened', 'renamed'] as const

export type DifferenceClass = (typeof DIFFERENCE_CLASSES)[number]

export interface PinDifference {
  kind: PrimitiveKind
  name: string
  class: DifferenceClass
  /** The name it had, where it was renamed. */
  formerly?: string
  /** In words, each with the place: `inputSchema.properties.path: new property`. */
  changes: readonly { pointer: string; class: DifferenceClass; text: string; before?: unknown; after?: unknown }[]
}

/** The difference between a definition and its approved form. */

import type { PrimitiveKind } from './offering.ts'

/** From harmless to dangerous. A definition with several changes has the most dangerous class. */
export const DIFFERENCE_CLASSES = ['cosmetic', 'narrowed', 'removed', 'text', 'downgraded', 'widened', 'renamed'] as const

export type DifferenceClass = (typeof DIFFERENCE_CLASSES)[number]

export interface PinDifference {
  kind: PrimitiveKind
  name: string
  class: DifferenceClass
  /** The former name, if it was renamed. */
  formerly?: string
  /** In words, each with the place: `inputSchema.properties.path: new property`. */
  changes: readonly { pointer: string; class: DifferenceClass; text: string; before?: unknown; after?: unknown }[]
}

/** The part of a server's offering that a person has to look at before it is used. */

import type { ApprovedItem } from './question.ts'

/** The part of a server's offering that waits for approval. */
export interface Review {
  server: string
  /** No part of the server was approved before. */
  isFirst: boolean
  /** Definitions that are not in use: new, changed or renamed ones, and those of a changed server. */
  items: readonly ApprovedItem[]
  /** Approved definitions that the server no longer offers. */
  gone: readonly string[]
}

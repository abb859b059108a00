/** What is known about a method whatever the revision; which revisions have it is written in `revisions/`. */

export interface MethodRow {
  method: string
  kind: 'request' | 'notification'
  /** Who sends it. */
  from: 'client' | 'server' | 'either'
  /** The capability the receiver of a request, or the sender of a notification, must have declared. */
  capability?: string
  /** Its handler may put questions to the user or the model on the other side. */
  mayAsk?: true
  /** Its result says how long it may be kept. */
  isCacheable?: true
  /** The parameter that names what it acts on. */
  target?: 'name' | 'uri'
}

export const methodRows = <const Rows extends readonly MethodRow[]>(rows: Rows): Rows => rows

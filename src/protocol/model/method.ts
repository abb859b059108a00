/** The properties of a method that hold in all revisions. `revisions/` says which revisions have the method. */

export interface MethodRow {
  method: string
  kind: 'request' | 'notification'
  /** Who sends it. */
  from: 'client' | 'server' | 'either'
  /** The capability the receiver of a request, or the sender of a notification, must have declared. */
  capability?: string
  /** The handler may ask the client's person or model. */
  mayAsk?: true
  /** The server may answer with a task. */
  mayBecomeTask?: true
  /** The result says how long it may be cached. */
  isCacheable?: true
  /** The parameter with the name or URI that the method acts on. */
  target?: 'name' | 'uri'
}

export const methodRows = <const Rows extends readonly MethodRow[]>(rows: Rows): Rows => rows

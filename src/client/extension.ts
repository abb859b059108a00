/** An extension as a client uses it. Types only, so that clients without extensions do not load any code for them. */

import type { Params } from '../jsonrpc/message.ts'
import type { Settings } from '../protocol/model/lifecycle.ts'
import type { Revision } from '../revisions/revision.ts'
import type { ServerDescription } from './dialect/dialect.ts'

/** An extension for `connect({ use })`. `clientExtension` of portico/extensions creates one. */
export interface ClientExtension {
  /** Its name, such as `com.example/feature`. */
  readonly id: string
  /** Declared to the server. */
  readonly settings: Settings
  /** Sends a request with one of its methods; undefined for other methods. */
  request(method: string, params: Params, connection: ExtensionConnection): Promise<Params> | undefined
  /** Checks a notification that it sends, and resolves with its params; undefined for other notifications. */
  notification?(method: string, params: Params, dialect: Pick<ExtensionConnection, 'server' | 'revision'>): Promise<Params> | undefined
  /** Takes a notification of the server. */
  notice(method: string, params: Params, revision: Revision): void
}

/** The connection that an extension sends its requests on. */
export interface ExtensionConnection {
  readonly server: ServerDescription
  readonly revision: Revision
  send(params: Params): Promise<Params>
}

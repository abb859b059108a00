/** What an extension adds to a server. Types only, so that servers without extensions do not load any code for them. */

import type { Params } from '../jsonrpc/message.ts'
import type { ServerCapabilities, Settings } from '../protocol/model/lifecycle.ts'
import type { Revision } from '../revisions/revision.ts'
import type { AppHook } from './apps/hook.ts'
import type { IncomingCall } from './incoming-call.ts'
import type { ServerState } from './server-state.ts'
import type { TaskHook } from './tasks/hook.ts'

export interface Addition {
  /** The name of the extension. */
  readonly id: string
  /** Declared to clients. */
  readonly settings: Settings
  readonly isIn: (revision: Revision) => boolean
  /** Capabilities that a session gets besides those of the core. `isIdentified`: the caller can be told from other callers. */
  capabilities?(revision: Revision, isIdentified: boolean): Partial<ServerCapabilities>
  /** Set by the extension for tasks. */
  readonly tasks?: TaskHook
  /** Set by the extension for apps. */
  readonly apps?: AppHook
  /** Called when a client may be there. */
  start?(): void
  /** Whether it adds tools, prompts or resources, so that it is started in a mounted server, too. */
  readonly isMounted?: true
  /** Called when the server is closed. */
  close?(): Promise<void>
  /** Whether it has a method of this name, in any revision. */
  has(method: string): boolean
  /** Answers a request; undefined if the method is not its own. */
  run(call: IncomingCall): Params | Promise<Params> | undefined
  /** Takes a notification of a client. */
  notice?(method: string, params: Params, revision: Revision): void
  /** Throws if `notify` of the handle must not send this notification. */
  checkNotice?(method: string, params: Params): void
  /** The part of a listen request that it agrees to; undefined for nothing. */
  accept?(call: IncomingCall): Promise<AcceptedMember | undefined> | undefined
}

/** A member of the filter of `subscriptions/listen` that the core does not know. */
export interface AcceptedMember {
  /** The extension whose notifications it selects. */
  id: string
  name: string
  value: unknown
  matches(method: string, params: Params): boolean
}

/** An extension for `server.extend`. `serverExtension` of portico/extensions creates one. */
export interface ServerExtension {
  /** Its name, such as `com.example/feature`. */
  readonly id: string
  /** Called by `server.extend`. */
  install(serverState: ServerState): Addition
}

/** Sends the notifications of an extension. */
export interface ExtensionHandle {
  readonly id: string
  /**
   * Sends a notification to all clients that listen for it, on every replica. In a session no subscription is needed. Throws if the
   * extension does not declare the notification in `sends`, or if the params do not match its schema.
   *
   * @example
   * handle.notify('notifications/com.example/progressed', { job: 7 })
   */
  notify(method: string, params?: Record<string, unknown>): void
}

/** What a bridge needs of its host. */

import type { Clock } from '../../base/clock.ts'
import type { Implementation } from '../../protocol/model/base.ts'
import type { AppLimits } from './limits.ts'
import type { AppNotifications, AppRequests, DisplayMode, HostCapabilities, HostContext, HostMessage } from './messages.ts'

/**
 * The state of an app. `new`: nothing came from the view. `initializing`: it was answered, and has not said that it is ready. `ready`: it works. `ending`: it
 * may finish. `ended`: nothing is sent or accepted.
 */
export type AppState = 'new' | 'initializing' | 'ready' | 'ending' | 'ended'

/**
 * Thrown by a handler for what the person or the policy refused. The view learns only that it was refused.
 *
 * @example
 * const openLink = async ({ url }) => {
 *   if (!(await confirm(url))) throw new AppRefusal('The host did not allow it')
 * }
 */
export class AppRefusal extends Error {
  override readonly name = 'AppRefusal'
}

export type AppParams<Method extends keyof AppRequests> = AppRequests[Method]['params']
type Result<Method extends keyof AppRequests> = Promise<AppRequests[Method]['result']>

/** What a host does for a view. A request without its handler is refused, and its capability is not declared. */
export interface AppHandlers {
  callTool?(params: AppParams<'tools/call'>, signal: AbortSignal): Result<'tools/call'>
  readResource?(params: AppParams<'resources/read'>, signal: AbortSignal): Result<'resources/read'>
  openLink?(params: AppParams<'ui/open-link'>, signal: AbortSignal): Promise<void>
  sendMessage?(params: AppParams<'ui/message'>, signal: AbortSignal): Promise<void>
  updateModelContext?(params: AppParams<'ui/update-model-context'>, signal: AbortSignal): Promise<void>
  /** Switches the display mode, if possible. Returns the mode that the view has then. */
  setDisplayMode?(mode: DisplayMode): DisplayMode
  onSize?(size: AppNotifications['ui/notifications/size-changed']): void
  onLog?(message: AppNotifications['notifications/message']): void
  onState?(state: AppState): void
  /** The view asks to be closed. */
  onCloseWanted?(): void
  /** Called once, when the view must be removed. */
  onEnd?(reason: string): void
}

/** Options for `AppBridge`. */
export interface AppBridgeOptions {
  /** Sends a message to the view. */
  send(message: HostMessage): void
  /** What the host does for the view. */
  handlers: AppHandlers
  /** The name and version of the host. */
  info: Implementation
  /** What the view learns of its surroundings. */
  context?: HostContext
  /** What the frame of the view allows. */
  sandbox?: HostCapabilities['sandbox']
  /** Limits that differ from `DEFAULT_APP_LIMITS`. */
  limits?: Partial<AppLimits>
  /** The clock for the rate of messages and for the end. Default: the system clock. */
  clock?: Clock
}

/** What the host can do for the view, as the view learns it. */
export function capabilitiesOf({ handlers, sandbox }: AppBridgeOptions): HostCapabilities {
  const text = { text: {} }
  return {
    ...(handlers.callTool && { serverTools: {} }),
    ...(handlers.readResource && { serverResources: {} }),
    ...(handlers.openLink && { openLinks: {} }),
    ...(handlers.sendMessage && { message: text }),
    ...(handlers.updateModelContext && { updateModelContext: { ...text, structuredContent: {} } }),
    ...(handlers.onLog && { logging: {} }),
    ...(sandbox && { sandbox }),
  }
}

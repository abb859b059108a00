/** portico/apps: views of tools for servers, and the bridge between a view and its host. */

export type { ToolAudience, ViewDomains, ViewMeta, ViewPermissions } from '../protocol/model/apps.ts'
export type { AppDefinition } from '../server/apps/hook.ts'
export { apps } from '../server/apps/support.ts'
export type { ViewDefinition } from '../server/apps/view.ts'
export { AppBridge } from './bridge/bridge.ts'
export { type AppBridgeOptions, type AppHandlers, AppRefusal, type AppState } from './bridge/bridge-options.ts'
export { type AppLimits, DEFAULT_APP_LIMITS } from './bridge/limits.ts'
export type {
  AppCapabilities,
  AppNotifications,
  AppRequests,
  DisplayMode,
  HostCapabilities,
  HostContext,
  HostMessage,
  HostNotifications,
  HostRequests,
  ModelContext,
  SandboxNotifications,
} from './bridge/messages.ts'
export { contentSecurityPolicy, frameAllowance, type View, viewOf } from './bridge/view.ts'

/** The messages between a view and its host: JSON-RPC over `postMessage`. */

import type { ViewDomains, ViewPermissions } from '../../protocol/model/apps.ts'
import type { Implementation } from '../../protocol/model/base.ts'
import type { ContentBlock } from '../../protocol/model/content.ts'
import type { LogMessage } from '../../protocol/model/logging.ts'
import type { ReadResourceResult } from '../../protocol/model/resources.ts'
import type { CallToolResult, Tool } from '../../protocol/model/tools.ts'

/** How a view is displayed: in the flow of the page, on the whole screen, or floating. */
export type DisplayMode = 'inline' | 'fullscreen' | 'pip'

export const DISPLAY_MODES: readonly DisplayMode[] = ['inline', 'fullscreen', 'pip']

/** What a view declares when it begins. */
export interface AppCapabilities {
  experimental?: Record<string, object>
  tools?: { listChanged?: boolean }
  /** The display modes that it supports. */
  availableDisplayModes?: DisplayMode[]
}

/** The kinds of content that a host accepts in a message of a view. */
export interface ContentKinds {
  text?: object
  image?: object
  audio?: object
  resource?: object
  resourceLink?: object
  structuredContent?: object
}

/** What a host declares to a view. */
export interface HostCapabilities {
  openLinks?: object
  serverTools?: { listChanged?: boolean }
  serverResources?: { listChanged?: boolean }
  logging?: object
  sandbox?: { permissions?: ViewPermissions; csp?: { [List in keyof ViewDomains]?: string[] } }
  updateModelContext?: ContentKinds
  message?: ContentKinds
}

/** The surroundings of a view. */
export interface HostContext {
  /** The tool whose call opened the view. */
  toolInfo?: { id?: string | number; tool: Tool }
  theme?: 'light' | 'dark'
  displayMode?: DisplayMode
  availableDisplayModes?: DisplayMode[]
  /** Fixed, or flexible up to a maximum. A view with flexible dimensions reports its size. */
  containerDimensions?: ({ height: number } | { maxHeight?: number }) & ({ width: number } | { maxWidth?: number })
  locale?: string
  timeZone?: string
  userAgent?: string
  platform?: 'web' | 'desktop' | 'mobile'
  deviceCapabilities?: { touch?: boolean; hover?: boolean }
  safeAreaInsets?: { top: number; right: number; bottom: number; left: number }
}

/** Content that a view hands to the model. */
export interface ModelContext {
  content?: ContentBlock[]
  structuredContent?: Record<string, unknown>
}

/** Requests of a view, by method. */
export interface AppRequests {
  'ui/initialize': {
    params: { appInfo: Implementation; appCapabilities: AppCapabilities; protocolVersion: string }
    result: { protocolVersion: string; hostInfo: Implementation; hostCapabilities: HostCapabilities; hostContext: HostContext }
  }
  'ui/open-link': { params: { url: string }; result: object }
  'ui/message': { params: { role: 'user'; content: ContentBlock[] }; result: object }
  'ui/request-display-mode': { params: { mode: DisplayMode }; result: { mode: DisplayMode } }
  'ui/update-model-context': { params: ModelContext; result: object }
  'tools/call': { params: { name: string; arguments?: Record<string, unknown> }; result: CallToolResult }
  'resources/read': { params: { uri: string }; result: ReadResourceResult }
  ping: { params: object; result: object }
}

/** Notifications of a view, by method. */
export interface AppNotifications {
  'ui/notifications/initialized': object
  'ui/notifications/size-changed': { width?: number; height?: number }
  /** The view wants to be closed. */
  'ui/notifications/request-teardown': object
  'notifications/message': LogMessage
  'notifications/cancelled': { requestId: string | number; reason?: string }
}

/** Requests of a host, by method. */
export interface HostRequests {
  'ui/resource-teardown': { params: { reason?: string }; result: object }
}

/** Notifications of a host, by method. */
export interface HostNotifications {
  'ui/notifications/tool-input-partial': { arguments?: Record<string, unknown> }
  'ui/notifications/tool-input': { arguments?: Record<string, unknown> }
  'ui/notifications/tool-result': CallToolResult
  'ui/notifications/tool-cancelled': { reason?: string }
  'ui/notifications/host-context-changed': HostContext
}

/** Messages between the page of a host and the frame around a view, by method. They never reach the view. */
export interface SandboxNotifications {
  'ui/notifications/sandbox-proxy-ready': object
  'ui/notifications/sandbox-resource-ready': { html: string; sandbox?: string; csp?: ViewDomains; permissions?: ViewPermissions }
}

/** A message to a view. */
export type HostMessage =
  | { jsonrpc: '2.0'; id: string | number; result: object }
  | { jsonrpc: '2.0'; id: string | number; error: { code: number; message: string } }
  | { jsonrpc: '2.0'; id: string | number; method: keyof HostRequests; params: object }
  | { jsonrpc: '2.0'; method: keyof HostNotifications; params: object }

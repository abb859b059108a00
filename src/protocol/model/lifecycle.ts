/** Opening a connection: the handshake of the session dialect, discovery in the stateless dialect, and ping. */

import type { Cacheable, Implementation, Result } from './base.ts'
import { methodRows } from './method.ts'

/** The settings of an extension or of a non-standard capability. */
export type Settings = Record<string, unknown>

export interface ClientCapabilities {
  experimental?: Record<string, Settings>
  extensions?: Record<string, Settings>
  roots?: { listChanged?: boolean }
  sampling?: { context?: Settings; tools?: Settings }
  elicitation?: { form?: Settings; url?: Settings }
  /** What the client runs as tasks for the server. Only one revision has it. */
  tasks?: {
    list?: Settings
    cancel?: Settings
    requests?: { sampling?: { createMessage?: Settings }; elicitation?: { create?: Settings } }
  }
}

export interface ServerCapabilities {
  experimental?: Record<string, Settings>
  extensions?: Record<string, Settings>
  logging?: Settings
  completions?: Settings
  prompts?: { listChanged?: boolean }
  resources?: { subscribe?: boolean; listChanged?: boolean }
  tools?: { listChanged?: boolean }
  tasks?: { list?: Settings; cancel?: Settings; requests?: { tools?: { call?: Settings } } }
}

export interface InitializeParams {
  protocolVersion: string
  capabilities: ClientCapabilities
  clientInfo: Implementation
}

export interface InitializeResult extends Result {
  protocolVersion: string
  capabilities: ServerCapabilities
  serverInfo: Implementation
  instructions?: string
}

export interface DiscoverResult extends Result, Cacheable {
  supportedVersions: string[]
  capabilities: ServerCapabilities
  instructions?: string
}

export const lifecycleMethods = methodRows([
  { method: 'initialize', kind: 'request', from: 'client' },
  { method: 'notifications/initialized', kind: 'notification', from: 'client' },
  { method: 'server/discover', kind: 'request', from: 'client', isCacheable: true },
  { method: 'ping', kind: 'request', from: 'either' },
])

/** MCP Apps: the views of tools, and what a tool and a view say about themselves in `_meta.ui`. */

import { isObject } from '../../base/json.ts'
import type { Meta } from './base.ts'

/** The name of the extension. */
export const APPS = 'io.modelcontextprotocol/ui'

/** The type of a view. */
export const VIEW_TYPE = 'text/html;profile=mcp-app'

/** Addresses that a view uses, by what it uses them for. Those that it does not declare are blocked. */
export interface ViewDomains {
  /** Requests: `https://api.example.com`, `wss://live.example.com`. */
  connectDomains?: readonly string[]
  /** Images, scripts, styles, fonts and media. */
  resourceDomains?: readonly string[]
  /** Pages in frames. */
  frameDomains?: readonly string[]
  /** Base addresses of the document. */
  baseUriDomains?: readonly string[]
}

/** Features of the browser that a view asks for. */
export interface ViewPermissions {
  camera?: object
  microphone?: object
  geolocation?: object
  clipboardWrite?: object
}

/** What a view says about itself, in `_meta.ui` of its content. */
export interface ViewMeta {
  /** The addresses that it uses. Default: none. */
  csp?: ViewDomains
  /** The features of the browser that it asks for. Default: none. */
  permissions?: ViewPermissions
  /** An origin of its own, in a form that the host defines. */
  domain?: string
  /** Whether the view wants a border and a background around it. */
  prefersBorder?: boolean
}

/** Who may call a tool. */
export type ToolAudience = 'model' | 'app'

/** What a tool says about its view, in `_meta.ui`. */
export interface ToolView {
  /** The URI of the view. Undefined if it has none. */
  resourceUri: string | undefined
  visibility: readonly ToolAudience[]
}

const EVERYONE: readonly ToolAudience[] = ['model', 'app']

/**
 * Reads `_meta.ui` of a tool, and the flat form of early servers. A URI with another scheme is no view.
 *
 * @example
 * const { resourceUri, visibility } = toolViewOf(tool)
 */
export function toolViewOf({ _meta }: { _meta?: Meta }): ToolView {
  const ui = isObject(_meta?.ui) ? _meta.ui : {}
  const uri = ui.resourceUri ?? _meta?.['ui/resourceUri']
  const { visibility } = ui
  return {
    resourceUri: typeof uri === 'string' && uri.startsWith('ui://') ? uri : undefined,
    visibility: Array.isArray(visibility) ? EVERYONE.filter((each) => visibility.includes(each)) : EVERYONE,
  }
}

/** How tools meet the extension for apps. Types only, so that servers without apps do not load any code for them. */

import type { ToolAudience } from '../../protocol/model/apps.ts'
import type { Meta } from '../../protocol/model/base.ts'
import type { Tool } from '../../protocol/model/tools.ts'
import type { IncomingCall } from '../incoming-call.ts'

/** What the definition of a tool says about apps. */
export interface AppDefinition {
  /**
   * The URI of the view that shows the results of the tool: `ui://...`. Clients that show no apps get the tool without it. Needs
   * `server.extend(apps({ ... }))` of portico/apps. Default: none.
   */
  view?: string
  /** Who may call the tool. Tools only for `app` are hidden from models and from clients that show no apps. Default: both. */
  visibleTo?: readonly ToolAudience[]
}

export interface AppHook {
  /** The metadata of a tool with its view. Throws ERR_DEFINITION if the view or the audience is invalid. */
  metaOf(where: string, definition: AppDefinition & { _meta?: Meta }): Meta | undefined
  /** Whether the client of this call shows apps. */
  isShownTo(call: IncomingCall): boolean
  /** The tool for a client that shows no apps; undefined if only apps may call it. */
  plain(tool: Tool): Tool | undefined
}

/** The extension for apps, as a server has it. */

import { isObject } from '../../base/json.ts'
import { McpError } from '../../protocol/errors.ts'
import { APPS, type ToolAudience, toolViewOf, VIEW_TYPE } from '../../protocol/model/apps.ts'
import type { Meta } from '../../protocol/model/base.ts'
import type { Tool } from '../../protocol/model/tools.ts'
import type { Addition, ServerExtension } from '../addition.ts'
import { declaredSettings } from '../declared-extension.ts'
import type { IncomingCall } from '../incoming-call.ts'
import type { ServerState } from '../server-state.ts'
import type { AppDefinition, AppHook } from './hook.ts'
import { checkView, readView, type ViewDefinition } from './view.ts'

/**
 * Gives tools a view: an HTML page that a client shows next to their results. Call it before you define the tools.
 *
 * @example
 * server.extend(apps({ 'ui://dice/board': { html: '<!doctype html><p id="sum"></p><script src="..."></script>' } }))
 * server.tool('roll', { view: 'ui://dice/board' }, () => ({ sum: 7 }))
 */
export function apps(views: Readonly<Record<string, ViewDefinition>>): ServerExtension {
  if (!isObject(views))
    throw new McpError('ERR_DEFINITION', "apps: expected the views by their URI, such as { 'ui://dice/board': { html } }")
  for (const [uri, view] of Object.entries(views)) checkView(uri, view)
  return { id: APPS, install: (serverState) => new AppSupport(serverState, views) }
}

class AppSupport implements Addition, AppHook {
  readonly id = APPS
  readonly settings = {}
  readonly apps: AppHook = this
  readonly #views: ReadonlySet<string>

  constructor(serverState: ServerState, views: Readonly<Record<string, ViewDefinition>>) {
    this.#views = new Set(Object.keys(views))
    for (const [uri, view] of Object.entries(views)) {
      const { name = uri, title, description } = view
      const shown = { ...(title !== undefined && { title }), ...(description !== undefined && { description }) }
      // Clients find it in the metadata of tools. In the list it would be noise for those that show no apps.
      serverState.resources.define(uri, { name, ...shown, mimeType: VIEW_TYPE }, () => readView(uri, view), true)
    }
  }

  readonly isIn: Addition['isIn'] = ({ hasExtensions }) => hasExtensions

  has(): boolean {
    return false
  }

  run(): undefined {
    return undefined
  }

  metaOf(where: string, { view, visibleTo, _meta }: AppDefinition & { _meta?: Meta }): Meta | undefined {
    if (view === undefined && visibleTo === undefined) return _meta
    if (view !== undefined && !this.#views.has(view))
      throw new McpError('ERR_DEFINITION', `${where}: apps() defines no view ${JSON.stringify(view)}`)
    const isAudience = (each: unknown): each is ToolAudience => each === 'model' || each === 'app'
    if (visibleTo !== undefined && !(Array.isArray(visibleTo) && visibleTo.length > 0 && visibleTo.every(isAudience)))
      throw new McpError('ERR_DEFINITION', `${where}: visibleTo must list "model", "app" or both, not ${JSON.stringify(visibleTo)}`)
    const ui = { ...(view !== undefined && { resourceUri: view }), ...(visibleTo && { visibility: [...visibleTo] }) }
    return { ..._meta, ui }
  }

  /** Older sessions declare it, too: the extension is older than the revision that has extensions. */
  isShownTo(call: IncomingCall): boolean {
    const types = declaredSettings(call, APPS)?.mimeTypes
    return Array.isArray(types) && types.includes(VIEW_TYPE)
  }

  plain(tool: Tool): Tool | undefined {
    if (!toolViewOf(tool).visibility.includes('model')) return undefined
    const { _meta, ...rest } = tool
    if (_meta?.ui === undefined) return tool
    const { ui: _, ...others } = _meta
    return Object.keys(others).length > 0 ? { ...rest, _meta: others } : rest
  }
}

/** Views: their definition by the author of a server, and their checks. */

import { isObject } from '../../base/json.ts'
import { checkMembers, type Members } from '../../protocol/check-members.ts'
import { McpError } from '../../protocol/errors.ts'
import { VIEW_TYPE, type ViewMeta } from '../../protocol/model/apps.ts'
import type { ResourceContents } from '../../protocol/model/resources.ts'

/** The definition of a view: an HTML page that shows the results of tools. */
export interface ViewDefinition extends ViewMeta {
  /** The page, or a function that returns it. It must be an HTML document that begins with `<!doctype html>`. */
  html: string | (() => string | Promise<string>)
  /** The name of the view in the list of resources. Default: its URI. */
  name?: string
  /** The name to show to people. */
  title?: string
  /** Tells the person what the view shows. */
  description?: string
}

const MEMBERS: Members<ViewDefinition> = {
  html: 1,
  name: 1,
  title: 1,
  description: 1,
  csp: 1,
  permissions: 1,
  domain: 1,
  prefersBorder: 1,
}

const DOMAIN_LISTS = ['connectDomains', 'resourceDomains', 'frameDomains', 'baseUriDomains']
const PERMISSIONS = ['camera', 'microphone', 'geolocation', 'clipboardWrite']

/** An origin, with or without a wildcard for subdomains. Anything else could change the policy that a host makes of it. */
const ORIGIN = /^(?:https?|wss?):\/\/(?:\*\.)?[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?(?::\d{1,5})?$/i

/** Throws ERR_DEFINITION for a view that hosts could not show. */
export function checkView(uri: string, view: ViewDefinition): void {
  const where = `View ${JSON.stringify(uri)}`
  if (!/^ui:\/\/[^\s{}]+$/.test(uri)) throw bad(where, 'the URI must begin with "ui://" and have no spaces and no variables')
  if (!isObject(view)) throw bad(where, 'expected { html }')
  checkMembers(where, view as ViewDefinition, MEMBERS)
  if (typeof view.html === 'string') checkDocument(where, view.html)
  else if (typeof view.html !== 'function') throw bad(where, `html must be a string or a function, not ${typeof view.html}`)
  checkDomains(where, view.csp ?? {})
  if (!isObject(view.permissions ?? {}))
    throw bad(where, `permissions must be an object such as { camera: {} }, not ${JSON.stringify(view.permissions)}`)
  const unknown = Object.keys(view.permissions ?? {}).find((name) => !PERMISSIONS.includes(name))
  if (unknown !== undefined) throw bad(where, `unknown permission ${JSON.stringify(unknown)}; expected ${PERMISSIONS.join(', ')}`)
}

function checkDomains(where: string, csp: object): void {
  for (const [list, origins] of Object.entries(csp)) {
    if (!DOMAIN_LISTS.includes(list)) throw bad(where, `unknown member ${JSON.stringify(list)} of csp; expected ${DOMAIN_LISTS.join(', ')}`)
    const other = Array.isArray(origins) ? origins.find((each) => typeof each !== 'string' || !ORIGIN.test(each)) : origins
    if (other !== undefined) throw bad(where, `${list} must list origins such as "https://api.example.com", not ${JSON.stringify(other)}`)
  }
}

/** Comments may come before it, as in every HTML document. */
const DOCTYPE = /^\uFEFF?(?:\s|<!--[\s\S]*?-->)*<!doctype html[\s>]/i

function checkDocument(where: string, html: string): void {
  if (!DOCTYPE.test(html)) throw bad(where, 'html must be an HTML document that begins with <!doctype html>')
}

const bad = (where: string, what: string): McpError => new McpError('ERR_DEFINITION', `${where}: ${what}`)

/** The content of a view, with what it says about itself. */
export async function readView(uri: string, view: ViewDefinition): Promise<ResourceContents> {
  const { html, csp, permissions, domain, prefersBorder } = view
  const text = typeof html === 'string' ? html : await html()
  if (typeof html !== 'string') checkDocument(`View ${JSON.stringify(uri)}`, text)
  const ui = Object.fromEntries(Object.entries({ csp, permissions, domain, prefersBorder }).filter(([, value]) => value !== undefined))
  return { uri, mimeType: VIEW_TYPE, text, ...(Object.keys(ui).length > 0 && { _meta: { ui } }) }
}

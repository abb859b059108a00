/** Checks a view that a server sent, and makes the policy that its frame gets. */

import { isBase64 } from '../../base/bytes.ts'
import { isObject } from '../../base/json.ts'
import { McpError } from '../../protocol/errors.ts'
import { VIEW_TYPE, type ViewDomains, type ViewMeta, type ViewPermissions } from '../../protocol/model/apps.ts'
import type { ReadResourceResult } from '../../protocol/model/resources.ts'

/** A view that was checked. */
export interface View {
  uri: string
  html: string
  /** The addresses that it declares and that a host may allow. */
  domains: Required<ViewDomains>
  /** Declared addresses that no host should allow: not encrypted, or on this computer or a local network. */
  refused: readonly string[]
  permissions: readonly (keyof ViewPermissions)[]
  prefersBorder: boolean | undefined
}

const LISTS = ['connectDomains', 'resourceDomains', 'frameDomains', 'baseUriDomains'] as const
const PERMISSIONS = ['camera', 'microphone', 'geolocation', 'clipboardWrite'] as const

/** More addresses than anyone would read. */
const MAX_DOMAINS = 50

export const NO_DOMAINS: Required<ViewDomains> = { connectDomains: [], resourceDomains: [], frameDomains: [], baseUriDomains: [] }

/**
 * The view in the result of `resources/read`.
 *
 * @example
 * const { html, domains } = viewOf(uri, await client.read(uri), 1024 * 1024)
 *
 * @throws McpError ERR_ANSWER_INVALID if it is not a view, or too large
 */
export function viewOf(uri: string, { contents }: ReadResourceResult, maxBytes: number): View {
  const bad = (what: string): McpError => new McpError('ERR_ANSWER_INVALID', `The view ${JSON.stringify(uri)} cannot be shown: ${what}`)
  if (!uri.startsWith('ui://')) throw bad('expected a URI that begins with "ui://"')
  const [content, ...others] = contents
  if (!content || others.length > 0) throw bad(`expected one content, got ${contents.length}`)
  if (content.uri !== uri) throw bad(`the server sent ${JSON.stringify(content.uri.slice(0, 200))} in its place`)
  if (!isViewType(content.mimeType)) throw bad(`expected the type ${VIEW_TYPE}, got ${JSON.stringify(content.mimeType)?.slice(0, 100)}`)
  const html = textOf(content)
  if (html === undefined) throw bad('its content is neither text nor base64 of UTF-8 text')
  const bytes = new TextEncoder().encode(html).length
  if (bytes > maxBytes) throw bad(`it has ${bytes} bytes, more than ${maxBytes} (maxViewBytes)`)
  return { uri, html, ...declared(isObject(content._meta?.ui) ? content._meta.ui : {}) }
}

const isViewType = (type: unknown): boolean => typeof type === 'string' && type.toLowerCase().replace(/[\s"]/g, '') === VIEW_TYPE

function textOf(content: ReadResourceResult['contents'][number]): string | undefined {
  if ('text' in content && typeof content.text === 'string') return content.text
  if (!('blob' in content) || typeof content.blob !== 'string' || !isBase64(content.blob)) return undefined
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Uint8Array.from(atob(content.blob), (each) => each.charCodeAt(0)))
  } catch {
    return undefined
  }
}

function declared({ csp, permissions, prefersBorder }: Record<string, unknown> & ViewMeta): Omit<View, 'uri' | 'html'> {
  const refused: string[] = []
  const listed = (list: unknown): string[] =>
    (Array.isArray(list) ? list : []).slice(0, MAX_DOMAINS).flatMap((each: unknown) => {
      if (typeof each === 'string' && isOpenOrigin(each)) return [each.toLowerCase()]
      refused.push(String(each).slice(0, 200))
      return []
    })
  const given: ViewDomains = isObject(csp) ? csp : {}
  const domains = { ...NO_DOMAINS }
  for (const name of LISTS) domains[name] = listed(given[name])
  return {
    domains,
    refused,
    permissions: PERMISSIONS.filter((name) => isObject(permissions) && isObject((permissions as Record<string, unknown>)[name])),
    prefersBorder: typeof prefersBorder === 'boolean' ? prefersBorder : undefined,
  }
}

/** An encrypted origin with a public name. Everything else could change the policy, or reach services that trust this computer. */
const OPEN_ORIGIN = /^(?:https|wss):\/\/(?:\*\.)?((?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z][a-z0-9-]*[a-z0-9])(?::\d{1,5})?$/i
const LOCAL_NAME = /\.(?:localhost|local|internal|home|lan|arpa|test|invalid)$/i

function isOpenOrigin(origin: string): boolean {
  const name = OPEN_ORIGIN.exec(origin)?.[1]
  return name !== undefined && !LOCAL_NAME.test(name)
}

/**
 * The Content Security Policy of a view. Only the given addresses are allowed: pass what the view declares and the person allows.
 *
 * @example
 * response.setHeader('Content-Security-Policy', contentSecurityPolicy({ connectDomains: ['https://api.example.com'] }))
 */
export function contentSecurityPolicy(allowed: ViewDomains = {}): string {
  const origins = (list: readonly string[] = []): string[] => list.filter(isOpenOrigin)
  const resources = origins(allowed.resourceDomains)
  const or = (list: readonly string[] | undefined, none: string): string[] => (origins(list).length > 0 ? origins(list) : [none])
  const directives: readonly (readonly [string, readonly string[]])[] = [
    ['default-src', ["'none'"]],
    ['script-src', ["'self'", "'unsafe-inline'", ...resources]],
    ['style-src', ["'self'", "'unsafe-inline'", ...resources]],
    ['img-src', ["'self'", 'data:', ...resources]],
    ['font-src', ["'self'", ...resources]],
    ['media-src', ["'self'", 'data:', ...resources]],
    ['connect-src', or(allowed.connectDomains, "'none'")],
    ['frame-src', or(allowed.frameDomains, "'none'")],
    ['base-uri', or(allowed.baseUriDomains, "'self'")],
    ['object-src', ["'none'"]],
    ['form-action', ["'none'"]],
  ]
  return directives.map(([name, values]) => `${name} ${values.join(' ')}`).join('; ')
}

const POLICY_NAMES: Readonly<Record<keyof ViewPermissions, string>> = {
  camera: 'camera',
  microphone: 'microphone',
  geolocation: 'geolocation',
  clipboardWrite: 'clipboard-write',
}

/**
 * The `allow` attribute of the frame of a view.
 *
 * @example
 * frame.allow = frameAllowance(['camera'])
 */
export const frameAllowance = (permissions: readonly (keyof ViewPermissions)[]): string =>
  permissions.map((name) => POLICY_NAMES[name]).join('; ')

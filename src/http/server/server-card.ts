/** The server card (extension io.modelcontextprotocol/server-card): tells clients and registries what a server is before they connect. */

import { checkMembers, type Members } from '../../protocol/check-members.ts'
import { McpError } from '../../protocol/errors.ts'
import type { PublicDocument, RequestHead } from '../../protocol/interfaces/access.ts'
import type { Service } from '../../protocol/interfaces/service.ts'
import type { Icon, Meta } from '../../protocol/model/base.ts'

/** Documents that everybody may read. `serverCard()` makes one. */
export interface PublicDocuments {
  /** The document at this path; undefined for other paths. */
  document(method: string, path: string, request: Pick<RequestHead, 'header'>): PublicDocument | undefined
}

/** Options for `serverCard`. */
export interface ServerCardOptions {
  /** The name of the server in reverse DNS order: `com.example/weather`. */
  name: string
  /** The public URL of the endpoint. */
  url: string
  /** What the server does, in at most 100 characters. */
  description: string
  /** The name to show to people, in at most 100 characters. */
  title?: string
  /** The website of the server. */
  websiteUrl?: string
  /** The source code. */
  repository?: { url: string; source: string; subfolder?: string; id?: string }
  /** Icons to show to people. */
  icons?: readonly Icon[]
  /** Headers that a client must send, such as an API key. */
  headers?: readonly { name: string; description?: string; isRequired?: boolean; isSecret?: boolean }[]
  /** Lists the card in `/.well-known/ai-catalog.json`, where clients look for the servers of a domain. Default: true. */
  catalog?: boolean
  /** Metadata by prefixed name: `com.example/key`. */
  _meta?: Meta
}

const MEMBERS: Members<ServerCardOptions> = {
  name: 1,
  url: 1,
  description: 1,
  title: 1,
  websiteUrl: 1,
  repository: 1,
  icons: 1,
  headers: 1,
  catalog: 1,
  _meta: 1,
}

const SCHEMA = 'https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json'
const CARD_TYPE = 'application/mcp-server-card+json'
const CATALOG_TYPE = 'application/ai-catalog+json'
const CATALOG_PATH = '/.well-known/ai-catalog.json'
const NAME = /^(?=.{3,200}$)[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/
const MAX_TEXT = 100

/**
 * Makes the server card: the `card` option of `listen` and `httpHandler`. It is served at the endpoint and `/server-card`, and listed in
 * the catalog of the domain. It contains nothing about tools, and everybody may read it.
 *
 * @example
 * const card = serverCard(server, { name: 'com.example/weather', url: 'https://mcp.example.com/mcp', description: 'Weather forecasts' })
 * await listen(server, { card, allowedHosts: ['mcp.example.com'] })
 */
export function serverCard(server: Service & { readonly version: string }, options: ServerCardOptions): PublicDocuments {
  checkMembers('serverCard', options, MEMBERS)
  const { name, url, description, title, catalog = true } = options
  const fail = (why: string): never => {
    throw new McpError('ERR_DEFINITION', `serverCard: ${why}`)
  }
  if (!NAME.test(name)) fail(`the name must be in reverse DNS order, such as com.example/weather; got ${JSON.stringify(name)}`)
  if (!/^https?:$/.test(URL.canParse(url) ? new URL(url).protocol : ''))
    fail(`expected the URL of the endpoint, got ${JSON.stringify(url)}`)
  // Everybody may read the card, and its own path comes after the path of the endpoint. The error must not show a password either.
  const { username, password } = new URL(url)
  if (username !== '' || password !== '' || /[?#]/.test(url)) fail('the URL of the endpoint must have no name, password, query or fragment')
  for (const [member, text] of [
    ['description', description],
    ['title', title ?? 'x'],
  ] as const) {
    if (text.length < 1 || text.length > MAX_TEXT) fail(`the ${member} must have 1 to ${MAX_TEXT} characters; got ${text.length}`)
  }
  const { websiteUrl, repository, icons, headers, _meta } = options
  const card = {
    $schema: SCHEMA,
    name,
    version: server.version,
    description,
    title,
    websiteUrl,
    repository,
    icons,
    remotes: [{ type: 'streamable-http', url, headers, supportedProtocolVersions: server.versions }],
    _meta,
  }
  const cardUrl = `${url.replace(/\/$/, '')}/server-card`
  const [namespace = '', own = ''] = name.split('/')
  const entry = { identifier: `urn:air:${namespace.split('.').reverse().join('.')}:mcp:${own}`, type: CARD_TYPE, url: cardUrl }
  const documents = new Map([[new URL(cardUrl).pathname, { type: CARD_TYPE, body: JSON.stringify(card) }]])
  if (catalog) documents.set(CATALOG_PATH, { type: CATALOG_TYPE, body: JSON.stringify({ specVersion: '1.0', entries: [entry] }) })

  return {
    document: (method, path, request): PublicDocument | undefined => {
      const found = documents.get(path)
      if (!found) return undefined
      if (method === 'OPTIONS') return { status: 204, headers: CORS }
      if (method !== 'GET' && method !== 'HEAD') return { status: 405, headers: { allow: 'GET, HEAD, OPTIONS' } }
      const etag = `"${digest(found.body)}"`
      const cached = { ...CORS, 'cache-control': 'public, max-age=3600', etag }
      if (request.header('if-none-match')?.includes(etag)) return { status: 304, headers: cached }
      return { status: 200, headers: { ...cached, 'content-type': found.type }, ...(method === 'GET' && { body: found.body }) }
    },
  }
}

const CORS = {
  'access-control-allow-origin': '*',
  'access-control-allow-methods': 'GET',
  'access-control-allow-headers': 'Content-Type, If-None-Match',
  'access-control-expose-headers': 'ETag',
}

/** Tells versions of a document apart. It protects nothing. */
function digest(text: string): string {
  let hash = 0
  for (let i = 0; i < text.length; i++) hash = (Math.imul(hash, 31) + text.charCodeAt(i)) | 0
  return `${text.length.toString(36)}-${(hash >>> 0).toString(36)}`
}

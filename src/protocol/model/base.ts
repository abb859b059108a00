/** Shapes that every feature shares. The model is neutral: the newest revision's shapes, whatever the wire says. */

/** Metadata beside the payload. Keys are an optional dotted prefix with a slash, and a name. */
export type Meta = Record<string, unknown>

export type Role = 'user' | 'assistant'

export interface Icon {
  src: string
  mimeType?: string
  sizes?: string[]
  theme?: 'light' | 'dark'
}

export interface Annotations {
  audience?: Role[]
  /** 0 (optional) to 1 (required). */
  priority?: number
  /** ISO 8601. */
  lastModified?: string
}

/** Who a client or server says it is; never proof of anything. */
export interface Implementation {
  name: string
  version: string
  title?: string
  description?: string
  websiteUrl?: string
  icons?: Icon[]
}

export interface Result {
  _meta?: Meta
  [key: string]: unknown
}

/** How long and by whom a result may be kept. */
export interface Cacheable {
  ttlMs?: number
  cacheScope?: 'public' | 'private'
}

export interface Paged {
  nextCursor?: string
}

export type ProgressToken = string | number

/** The `_meta` keys that carry the protocol itself in the stateless dialect. */
export const META = {
  protocolVersion: 'io.modelcontextprotocol/protocolVersion',
  clientInfo: 'io.modelcontextprotocol/clientInfo',
  clientCapabilities: 'io.modelcontextprotocol/clientCapabilities',
  logLevel: 'io.modelcontextprotocol/logLevel',
  subscriptionId: 'io.modelcontextprotocol/subscriptionId',
  serverInfo: 'io.modelcontextprotocol/serverInfo',
} as const

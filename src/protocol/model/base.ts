/** Types that all features share. The model uses the types of the newest revision for every revision on the wire. */

/** Metadata of a message or definition. A key is a name with an optional dotted prefix: `com.example/name`. */
export type Meta = Record<string, unknown>

export type Role = 'user' | 'assistant'

/** An icon of a server, tool, prompt or resource. */
export interface Icon {
  src: string
  mimeType?: string
  sizes?: string[]
  theme?: 'light' | 'dark'
}

/** Hints for clients about content and resources. */
export interface Annotations {
  /** Who the content is for. */
  audience?: Role[]
  /** From 0 (optional) to 1 (required). */
  priority?: number
  /** ISO 8601. */
  lastModified?: string
}

/** How a client or server describes itself. Not verified. */
export interface Implementation {
  /** The name for programs. */
  name: string
  /** The version of the program, such as `1.0.0`. */
  version: string
  /** The name to show to people. */
  title?: string
  /** What it does, in a sentence. */
  description?: string
  /** The address of its web page. */
  websiteUrl?: string
  /** Icons to show to people. */
  icons?: Icon[]
}

export interface Result {
  _meta?: Meta
  [key: string]: unknown
}

/** How long a result may be cached, and whether caches may share it between users. */
export interface Cacheable {
  ttlMs?: number
  cacheScope?: 'public' | 'private'
}

export interface Paged {
  nextCursor?: string
}

export type ProgressToken = string | number

/** The `_meta` keys that the protocol itself uses. */
export const META = {
  protocolVersion: 'io.modelcontextprotocol/protocolVersion',
  clientInfo: 'io.modelcontextprotocol/clientInfo',
  clientCapabilities: 'io.modelcontextprotocol/clientCapabilities',
  logLevel: 'io.modelcontextprotocol/logLevel',
  subscriptionId: 'io.modelcontextprotocol/subscriptionId',
  serverInfo: 'io.modelcontextprotocol/serverInfo',
} as const

/** Content blocks, the parts of tool results, prompt messages and sampling messages. */

import type { Annotations, Meta } from './base.ts'
import type { Resource, ResourceContents } from './resources.ts'

export interface TextContent {
  type: 'text'
  text: string
  annotations?: Annotations
  _meta?: Meta
}

export interface ImageContent {
  type: 'image'
  /** Base64. */
  data: string
  mimeType: string
  annotations?: Annotations
  _meta?: Meta
}

export interface AudioContent {
  type: 'audio'
  /** Base64. */
  data: string
  mimeType: string
  annotations?: Annotations
  _meta?: Meta
}

export interface ResourceLink extends Resource {
  type: 'resource_link'
}

export interface EmbeddedResource {
  type: 'resource'
  resource: ResourceContents
  annotations?: Annotations
  _meta?: Meta
}

/** One part of a tool result or a prompt message. */
export type ContentBlock = TextContent | ImageContent | AudioContent | ResourceLink | EmbeddedResource

const BLOCK_TYPES = new Set(['text', 'image', 'audio', 'resource_link', 'resource'])

export const isContentBlock = (value: unknown): value is ContentBlock =>
  typeof value === 'object' && value !== null && BLOCK_TYPES.has((value as { type?: string }).type ?? '')

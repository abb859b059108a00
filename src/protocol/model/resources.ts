/** Resources: data that a server offers by URI. */

import type { Annotations, Cacheable, Icon, Meta, Paged, Result } from './base.ts'
import { methodRows } from './method.ts'

/** A resource in the list of a server. */
export interface Resource {
  uri: string
  name: string
  title?: string
  description?: string
  mimeType?: string
  /** Size of the raw content in bytes. */
  size?: number
  annotations?: Annotations
  icons?: Icon[]
  _meta?: Meta
}

/** A resource template in the list of a server. Its variables choose the resource. */
export interface ResourceTemplate {
  /** RFC 6570. */
  uriTemplate: string
  name: string
  title?: string
  description?: string
  /** Set only if all matching resources have this type. */
  mimeType?: string
  annotations?: Annotations
  icons?: Icon[]
  _meta?: Meta
}

export interface TextResourceContents {
  uri: string
  mimeType?: string
  text: string
  _meta?: Meta
}

export interface BlobResourceContents {
  uri: string
  mimeType?: string
  /** Base64. */
  blob: string
  _meta?: Meta
}

/** The contents of a resource: text, or binary data in base64. */
export type ResourceContents = TextResourceContents | BlobResourceContents

export interface ListResourcesResult extends Result, Paged, Cacheable {
  resources: Resource[]
}

export interface ListResourceTemplatesResult extends Result, Paged, Cacheable {
  resourceTemplates: ResourceTemplate[]
}

export interface ReadResourceParams {
  uri: string
}

/** The result of reading a resource. */
export interface ReadResourceResult extends Result, Cacheable {
  contents: ResourceContents[]
}

export interface ResourceUpdatedParams {
  uri: string
}

export const resourceMethods = methodRows([
  { method: 'resources/list', kind: 'request', from: 'client', capability: 'resources', isCacheable: true },
  { method: 'resources/templates/list', kind: 'request', from: 'client', capability: 'resources', isCacheable: true },
  { method: 'resources/read', kind: 'request', from: 'client', capability: 'resources', mayAsk: true, isCacheable: true, target: 'uri' },
  { method: 'resources/subscribe', kind: 'request', from: 'client', capability: 'resources.subscribe' },
  { method: 'resources/unsubscribe', kind: 'request', from: 'client', capability: 'resources.subscribe' },
  { method: 'notifications/resources/list_changed', kind: 'notification', from: 'server', capability: 'resources.listChanged' },
  { method: 'notifications/resources/updated', kind: 'notification', from: 'server', capability: 'resources.subscribe' },
])

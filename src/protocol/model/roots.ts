/** Roots: the folders that a server may be told about. */

import type { Meta, Result } from './base.ts'
import { methodRows } from './method.ts'

/** A folder that a server may be told about. */
export interface Root {
  /** A file URI. */
  uri: string
  name?: string
  _meta?: Meta
}

export interface ListRootsResult extends Result {
  roots: Root[]
}

export const rootMethods = methodRows([
  { method: 'roots/list', kind: 'request', from: 'server', capability: 'roots' },
  { method: 'notifications/roots/list_changed', kind: 'notification', from: 'client', capability: 'roots.listChanged' },
])

/** Roots: the directories a client lets a server work in. */

import type { Meta, Result } from './base.ts'
import { methodRows } from './method.ts'

export interface Root {
  /** Always a file URI. */
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

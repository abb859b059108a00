/** The messages between this page and the frame around a view. */

import { isObject } from '../../../src/base/json.ts'

/** A message of the frame: it is ready, it stopped the view, or the view sends something to the host. */
export type FrameMessage = { kind: 'ready' } | { kind: 'stopped'; reason: string } | { kind: 'view'; message: Record<string, unknown> }

const RESERVED = 'ui/notifications/sandbox-'

export function messageOf(data: unknown): FrameMessage | undefined {
  if (!isObject(data)) return undefined
  const { method, params } = data
  if (method === `${RESERVED}proxy-ready`) return { kind: 'ready' }
  if (method === `${RESERVED}stopped`) {
    const reason = isObject(params) && typeof params.reason === 'string' ? params.reason : ''
    return { kind: 'stopped', reason: reason.slice(0, 200) }
  }
  return typeof method === 'string' && method.startsWith(RESERVED) ? undefined : { kind: 'view', message: data }
}

/** The other name of this computer: it is another site, so the frame shares neither cookies nor a process with this page. */
export const frameOrigin = (pageHost: string, port: number): string =>
  `http://${pageHost === 'localhost' ? '127.0.0.1' : 'localhost'}:${port}`

/** An end that the person or the view wanted needs no words. */
export const dismissed = (reason: string): string => (reason === 'It finished' || reason === 'The view was closed' ? '' : reason)

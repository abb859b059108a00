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

/** Messages that a view sends past the frame around it. None has a use; each costs this page time. */
export const PAST_FRAME = { perSecond: 10, burst: 50 }

/** The part of a window that another origin can see. */
interface FrameWindow {
  readonly parent: FrameWindow
}

/** Frames inside of frames inside of a view: deeper ones are not looked for. */
const MAX_DEPTH = 20

/** Whether a window is a frame inside of another window, at any depth. */
export function isInside(inner: FrameWindow, outer: FrameWindow): boolean {
  let each = inner
  for (let depth = 0; depth < MAX_DEPTH && each !== each.parent; depth++) {
    each = each.parent
    if (each === outer) return true
  }
  return false
}

/** The other name of this computer: it is another site, so the frame shares neither cookies nor a process with this page. */
export const frameOrigin = (pageHost: string, port: number): string =>
  `http://${pageHost === 'localhost' ? '127.0.0.1' : 'localhost'}:${port}`

/** An end that the person or the view wanted needs no words. */
export const dismissed = (reason: string): string => (reason === 'It finished' || reason === 'The view was closed' ? '' : reason)

/** The line between a process that has a store and one that uses it. */

import type { StoreMessage } from '../replica.ts'

/** A line for texts between two processes, such as the channel between a process and its child. */
export interface StorePort {
  send(text: string): void
  /** @param onGone called when the other side is gone */
  listen(onText: (text: string) => void, onGone: () => void): void
}

/** The properties of a store that are read without waiting. They come with every reply. */
export interface StoreState {
  id: string
  isHeld: boolean
  leaseMs: number
  health: string | null
}

/** What one side has received, or sent, in all. */
export interface Traffic {
  texts: number
  chars: number
}

/** How much the process with the store may have on its way to the other. More waits there, because a process may be slow or stopped. */
export const MAX_UNREAD: Readonly<Traffic> = { texts: 10_000, chars: 32 * 1024 * 1024 }

/** After so much the receiver says what it has received. */
export const REPORT_AFTER: Readonly<Traffic> = { texts: 256, chars: 1024 * 1024 }

/** Says what the sender has received. */
export interface ReceivedText {
  received: Traffic
}

export interface CallText {
  call: number
  method: string
  args: unknown[]
}

export type ReplyText =
  | { call: number; state: StoreState; result: unknown }
  | { call: number; state: StoreState; error: { code: string; message: string } }
  | { state: StoreState; message: StoreMessage }

/** The methods that the other side may call, as `part.name`. */
export const METHODS = [
  'sessions.create',
  'sessions.enter',
  'sessions.leave',
  'sessions.replace',
  'sessions.end',
  'sessions.idle',
  'sessions.endIdle',
  'sessions.cancel',
  'sessions.cancelled',
  'streams.open',
  'streams.append',
  'streams.attach',
  'streams.read',
  'streams.detach',
  'streams.answer',
  'streams.answers',
  'streams.settle',
  'streams.record',
  'streams.takeOver',
  'replica.join',
  'replica.send',
  'replica.broadcast',
  'replica.claimDead',
  'replica.leave',
  'topics.add',
  'topics.remove',
  'topics.page',
  'topics.size',
  'topics.sample',
  'counters.take',
  'counters.hold',
  'counters.first',
  'counters.lock',
  'counters.extend',
  'counters.unlock',
  'counters.keep',
  'counters.kept',
  'counters.put',
  'counters.forget',
  'tasks.create',
  'tasks.read',
  'tasks.head',
  'tasks.edition',
  'tasks.replace',
  'tasks.renew',
  'tasks.remove',
  'tasks.list',
  'tasks.neglected',
] as const

/** JSON has no undefined. Stores use no null, so it stands for undefined. */
export const readText = (text: string): unknown => withoutNull(JSON.parse(text))

function withoutNull(value: unknown): unknown {
  if (value === null) return undefined
  if (Array.isArray(value)) return value.map(withoutNull)
  if (typeof value !== 'object') return value
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, withoutNull(each)]))
}

/** The messages between the process that was started and its workers. Types, and how they are sent. */

import type { MetricFamily } from '../../../observability/metrics/metric-family.ts'

/** The workers, as one of them can tell a probe. */
export interface WorkersState {
  wanted: number
  running: number
}

/** Metrics of one process: `worker` is its number, or `primary`. */
export interface MetricsPart {
  worker: string
  families: MetricFamily[]
}

export type ToPrimary =
  /** The program called `listen`. */
  | { kind: 'hello' }
  | { kind: 'listening' }
  | { kind: 'store'; text: string }
  | { kind: 'alive' }
  /** The program wants all workers to close. */
  | { kind: 'close' }
  /** A scraper asked this worker for the metrics of all. */
  | { kind: 'gather'; id: number }
  | { kind: 'metrics'; id: number; families: MetricFamily[] }

export type ToWorker =
  | { kind: 'setup'; worker: number; port: number; key: { id: string; secret: string } }
  | { kind: 'store'; text: string }
  | { kind: 'check' }
  /** `isSignal`: the process may end as soon as it has closed. */
  | { kind: 'stop'; isSignal: boolean }
  | { kind: 'state'; state: WorkersState }
  | { kind: 'metrics'; id: number }
  | { kind: 'gathered'; id: number; parts: MetricsPart[] }

/** One side of the channel: the process object of a worker, or a worker in the primary. */
interface Side {
  send?(message: object, onSent: (error: Error | null) => void): unknown
  on(event: 'message', listener: (message: unknown) => void): unknown
}

/** Programs may send messages of their own on the same channel, so ours have a name. */
interface Envelope<M> {
  portico: M
}

/** A message to a process that is gone is dropped; its end is noticed elsewhere. */
export function sendTo<M extends ToPrimary | ToWorker>(side: Side, message: M): void {
  try {
    // Without a function for its outcome, a failure would be an event that ends the process.
    side.send?.({ portico: message } satisfies Envelope<M>, () => {})
  } catch {
    // A worker that could not be spawned has no channel.
  }
}

export function receiveFrom<M extends ToPrimary | ToWorker>(side: Side, receive: (message: M) => void): void {
  side.on('message', (message) => {
    const ours = (message as Partial<Envelope<M>> | null)?.portico
    if (ours !== undefined) receive(ours)
  })
}

/** A worker: serves as one replica, and asks the process that started it for everything that workers share. */

import cluster from 'node:cluster'
import { reportError } from '../../../base/report-error.ts'
import type { MetricFamily } from '../../../observability/metrics/metric-family.ts'
import type { KeyRing } from '../../../protocol/interfaces/replaceable-services.ts'
import type { Service } from '../../../protocol/interfaces/service.ts'
import { isOfOneProcess } from '../../../store/memory/memory-store.ts'
import { remoteStore } from '../../../store/remote/remote-store.ts'
import type { Listening, ListenOptions } from '../listen-options.ts'
import type { GatheredMetricsOptions } from '../operations/health.ts'
import { mergeMetrics } from './merge-metrics.ts'
import { type MetricsPart, receiveFrom, sendTo, type ToPrimary, type ToWorker, type WorkersState } from './worker-messages.ts'

/** How long the program may go on after its server has closed. */
const AFTER_CLOSE_MS = 2000

/** How long a scrape waits for the primary process, which waits for the workers itself. */
const GATHER_MS = 2000

type Setup = Extract<ToWorker, { kind: 'setup' }>

export async function serveAsWorker(
  service: Service,
  options: ListenOptions,
  serveHere: (options: ListenOptions) => Promise<Listening>,
): Promise<Listening> {
  const tell = (message: ToPrimary): void => sendTo(process, message)
  const gathering = new Map<number, (parts: MetricsPart[]) => void>()
  let gathered = 0
  let ownMetrics: () => Promise<MetricFamily[]> = async () => []
  let onStoreText: (text: string) => void = () => {}
  let onStop: (isSignal: boolean) => void = () => {}
  let state: WorkersState | undefined

  const setup = await new Promise<Setup>((resolve) => {
    receiveFrom<ToWorker>(process, (message) => {
      switch (message.kind) {
        case 'setup':
          return resolve(message)
        case 'store':
          return onStoreText(message.text)
        case 'check':
          return tell({ kind: 'alive' })
        case 'stop':
          return onStop(message.isSignal)
        case 'state':
          state = message.state
          return
        case 'metrics':
          return void ownMetrics().then(
            (families) => tell({ kind: 'metrics', id: message.id, families }),
            // This worker is left out of the scrape, and `portico_workers` says so.
            (error: unknown) => reportError('portico: the metrics of this worker could not be read:', error),
          )
        case 'gathered':
          gathering.get(message.id)?.(message.parts)
      }
    })
    tell({ kind: 'hello' })
  })
  service.useKeys?.(ringOf(setup.key))
  const store =
    options.store && !isOfOneProcess(options.store)
      ? options.store
      : remoteStore({
          send: (text) => tell({ kind: 'store', text }),
          listen: (onText, onGone) => {
            onStoreText = onText
            process.once('disconnect', onGone)
          },
        })
  const metrics: GatheredMetricsOptions | undefined = options.metrics
    ? {
        token: typeof options.metrics === 'object' ? options.metrics.token : undefined,
        serve: (own) => {
          ownMetrics = own
        },
        gather: async () => {
          const id = ++gathered
          let timer: NodeJS.Timeout | undefined
          const parts = await new Promise<MetricsPart[] | undefined>((resolve) => {
            timer = setTimeout(resolve, GATHER_MS, undefined)
            gathering.set(id, resolve)
            tell({ kind: 'gather', id })
          })
          clearTimeout(timer)
          gathering.delete(id)
          // The primary process stands still.
          return mergeMetrics(parts ?? [{ worker: String(setup.worker), families: await ownMetrics() }])
        },
      }
    : undefined
  const listening = await serveHere({
    ...options,
    port: setup.port,
    store,
    ...(metrics && { metrics }),
  })
  listening.handler.checks.set('workers', () =>
    state && state.running < state.wanted
      ? { state: 'degraded', reason: `${state.running} of ${state.wanted} workers are running` }
      : undefined,
  )
  onStop = (isSignal) => {
    void listening.close().then(() => {
      if (isSignal) return process.exit(0)
      // The program may still have work to do, such as to close a database.
      setTimeout(() => process.exit(0), AFTER_CLOSE_MS).unref()
      cluster.worker?.disconnect()
    })
  }
  tell({ kind: 'listening' })
  return {
    ...listening,
    worker: setup.worker,
    close: () => {
      // Otherwise it would be replaced.
      tell({ kind: 'close' })
      return listening.closed
    },
  }
}

/** All workers seal and open the state that clients carry with the same key. */
function ringOf({ id, secret }: Setup['key']): KeyRing {
  const key = { id, secret: new Uint8Array(Buffer.from(secret, 'base64')) }
  return { current: () => key, find: (asked) => (asked === id ? key : undefined) }
}

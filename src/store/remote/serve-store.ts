/** `serveStore`: lets another process use a store of this one. */

import { McpError } from '../../protocol/errors.ts'
import type { SharedStore } from '../shared-store.ts'
import { type CallText, METHODS, type ReplyText, readText, type StorePort, type StoreState } from './port.ts'
import { taskTexts } from './task-texts.ts'

/**
 * Lets another process use one replica of a store, for example the primary process of a cluster its worker. When the other process is
 * gone, the replica is closed, and others take over what it ran.
 *
 * @example
 * const store = memoryStore()
 * const worker = fork('worker.js')
 * serveStore(store.another(), {
 *   send: (text) => worker.send(text),
 *   listen: (onText, onGone) => worker.on('message', onText).on('disconnect', onGone),
 * })
 */
export function serveStore(store: SharedStore, port: StorePort): void {
  const state = (): StoreState => {
    const { id, isHeld, leaseMs } = store.replica
    return { id, isHeld, leaseMs, health: store.health() ?? null }
  }
  const say = (reply: ReplyText): void => {
    try {
      port.send(JSON.stringify(reply))
    } catch {
      // The other side is gone, and the port will tell.
    }
  }
  store.replica.listen((message) => say({ state: state(), message }))
  const answer = async ({ call, method, args }: CallText): Promise<void> => {
    try {
      const result = await methodOf(store, method)(...args)
      say({ call, state: state(), result })
    } catch (error) {
      const { code, message } = error instanceof McpError ? error : { code: 'ERR_STORE', message: (error as Error).message }
      say({ call, state: state(), error: { code, message } })
    }
  }
  port.listen(
    (text) => void answer(readText(text) as CallText),
    () => void store.close(),
  )
}

function methodOf(store: SharedStore, method: string): (...args: unknown[]) => Promise<unknown> {
  if (!METHODS.some((known) => known === method)) throw new McpError('ERR_STORE', `A store has no method "${method}"`)
  const [part = '', name = ''] = method.split('.')
  const parts = { ...store, tasks: store.tasks && taskTexts(store.tasks) } as unknown
  const found = (parts as Record<string, Record<string, (...args: unknown[]) => Promise<unknown>> | undefined>)[part]
  if (!found) throw new McpError('ERR_UNSUPPORTED', `The store of the other process has no ${part}`)
  return (...args) => found[name]?.(...args) ?? Promise.resolve()
}

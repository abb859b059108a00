/** `remoteStore`: uses a store of another process. */

import { type ErrorCode, McpError } from '../../protocol/errors.ts'
import { CommandListeners } from '../command-listeners.ts'
import type { StoreMessage } from '../replica.ts'
import type { SharedStore } from '../shared-store.ts'
import { METHODS, type ReplyText, readText, type StorePort, type StoreState } from './port.ts'
import { remoteTasks } from './task-texts.ts'

/** Calls without a reply. */
const MAX_WAITING = 10_000

interface Waiting {
  resolve(result: unknown): void
  reject(error: Error): void
}

/**
 * Uses the store that another process serves with `serveStore`. When that process is gone, calls fail with ERR_STORE_DOWN.
 *
 * @example
 * const store = remoteStore({
 *   send: (text) => process.send(text),
 *   listen: (onText, onGone) => process.on('message', onText).on('disconnect', onGone),
 * })
 */
export function remoteStore(port: StorePort): SharedStore {
  const waiting = new Map<number, Waiting>()
  const listeners = new Set<(message: StoreMessage) => void>()
  let state: StoreState = { id: '', isHeld: false, leaseMs: 0, health: null }
  let fault: McpError | undefined
  let calls = 0
  const commands = new CommandListeners()

  const tell = (message: StoreMessage): void => {
    for (const listener of [...listeners]) {
      try {
        listener(message)
      } catch (error) {
        // A listener that fails must not stop the others.
        console.error('portico: a listener for messages of replicas failed:', error)
      }
    }
  }
  const end = (error: McpError): void => {
    if (fault) return
    fault = error
    const wasHeld = state.isHeld
    state = { ...state, isHeld: false }
    for (const { reject } of waiting.values()) reject(error)
    waiting.clear()
    if (wasHeld) tell({ kind: 'lost', reason: error.message })
  }
  port.listen(
    (text) => {
      if (fault) return
      const reply = readText(text) as ReplyText
      state = reply.state
      if ('message' in reply) return tell(reply.message)
      const call = waiting.get(reply.call)
      waiting.delete(reply.call)
      if ('error' in reply) call?.reject(new McpError(reply.error.code as ErrorCode, reply.error.message))
      else call?.resolve((reply as { result?: unknown }).result)
    },
    () => end(new McpError('ERR_STORE_DOWN', 'The process that has the store is gone')),
  )
  const run = (method: string, args: unknown[]): Promise<unknown> => commands.measure(method, () => call(method, args))
  const call = (method: string, args: unknown[]): Promise<unknown> =>
    new Promise((resolve, reject) => {
      if (fault) return reject(fault)
      if (waiting.size >= MAX_WAITING) return reject(new McpError('ERR_STORE_DOWN', `${MAX_WAITING} calls already wait for the store`))
      waiting.set(++calls, { resolve, reject })
      try {
        port.send(JSON.stringify({ call: calls, method, args }))
      } catch (cause) {
        waiting.delete(calls)
        reject(new McpError('ERR_STORE_DOWN', 'The process that has the store cannot be reached', { cause }))
      }
    })
  const methodsOf = (part: string): object =>
    Object.fromEntries(
      METHODS.filter((method) => method.startsWith(`${part}.`)).map((method) => [
        method.slice(part.length + 1),
        (...args: unknown[]) => run(method, args),
      ]),
    )
  const replica = {
    ...methodsOf('replica'),
    get id() {
      return state.id
    },
    get leaseMs() {
      return state.leaseMs
    },
    get isHeld() {
      return state.isHeld
    },
    listen: (listener: (message: StoreMessage) => void) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
  return {
    sessions: methodsOf('sessions') as SharedStore['sessions'],
    streams: methodsOf('streams') as SharedStore['streams'],
    replica: replica as unknown as SharedStore['replica'],
    topics: methodsOf('topics') as SharedStore['topics'],
    counters: methodsOf('counters') as SharedStore['counters'],
    tasks: remoteTasks(run),
    onCommand: (listener) => commands.add(listener),
    health: () => fault?.message ?? state.health ?? undefined,
    close: async () => {
      if (!fault) await run('replica.leave', []).catch(() => {})
      end(new McpError('ERR_CLOSED', 'The store is closed'))
    },
  }
}

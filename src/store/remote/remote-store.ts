/** `remoteStore`: uses a store of another process. */

import { callListeners } from '../../base/call-observer.ts'
import { type ErrorCode, McpError } from '../../protocol/errors.ts'
import { CommandListeners } from '../command-listeners.ts'
import type { StoreMessage } from '../replica.ts'
import type { SharedStore } from '../shared-store.ts'
import { LateReplies } from './late-replies.ts'
import { METHODS, REPORT_AFTER, type ReceivedText, type ReplyText, readText, type StorePort, type StoreState } from './port.ts'
import { remoteTasks } from './task-texts.ts'

/** Calls without a reply, and their characters. A single larger call is sent if no other waits. */
const MAX_CALLS = 10_000
const MAX_CALL_CHARS = 32 * 1024 * 1024
/** How long a call waits for a process that is stopped or blocked. Its clients would wait as long. */
const REPLY_MS = 10_000

interface Waiting {
  method: string
  args: unknown[]
  chars: number
  timer: NodeJS.Timeout
  isGivenUp: boolean
  resolve(result: unknown): void
  reject(error: Error): void
}

/**
 * Uses the store that another process serves with `serveStore`. When that process is gone, or does not answer for 10 seconds, calls fail
 * with ERR_STORE_DOWN.
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
  let waitingChars = 0
  const received = { texts: 0, chars: 0 }
  let reported = { ...received }
  const commands = new CommandListeners()

  const tell = (message: StoreMessage): void => {
    callListeners([...listeners], (listener) => listener(message), 'messages of replicas')
  }
  const end = (error: McpError): void => {
    if (fault) return
    fault = error
    const wasHeld = state.isHeld
    state = { ...state, isHeld: false }
    for (const { reject, timer } of waiting.values()) {
      clearTimeout(timer)
      reject(error)
    }
    waiting.clear()
    waitingChars = 0
    if (wasHeld) tell({ kind: 'lost', reason: error.message })
  }
  /** Lets the other side send more. */
  const report = (chars: number): void => {
    received.texts++
    received.chars += chars
    if (received.texts - reported.texts < REPORT_AFTER.texts && received.chars - reported.chars < REPORT_AFTER.chars) return
    reported = { ...received }
    try {
      port.send(JSON.stringify({ received } satisfies ReceivedText))
    } catch {
      // The other side is gone, and the port will tell.
    }
  }
  const forget = (number: number): Waiting | undefined => {
    const call = waiting.get(number)
    waitingChars -= call?.chars ?? 0
    clearTimeout(call?.timer)
    waiting.delete(number)
    return call
  }
  /** The text of the call still waits for the other process, which runs it later. So the call counts until its reply comes. */
  const giveUp = (number: number): void => {
    const call = waiting.get(number)
    if (!call) return
    const reason = `The process that has the store did not answer within ${REPLY_MS} ms`
    // Until it says something.
    state = { ...state, health: reason }
    call.isGivenUp = true
    call.reject(new McpError('ERR_STORE_DOWN', reason))
  }
  port.listen(
    (text) => {
      if (fault) return
      report(text.length)
      const reply = readText(text) as ReplyText
      state = reply.state
      if ('message' in reply) return tell(reply.message)
      const call = forget(reply.call)
      if ('error' in reply) return call?.reject(new McpError(reply.error.code as ErrorCode, reply.error.message))
      const { result } = reply as { result?: unknown }
      if (call?.isGivenUp) late.handle(call.method, call.args, result)
      else call?.resolve(result)
    },
    () => end(new McpError('ERR_STORE_DOWN', 'The process that has the store is gone')),
  )
  const run = (method: string, args: unknown[]): Promise<unknown> => commands.measure(method, () => call(method, args))
  const call = (method: string, args: unknown[]): Promise<unknown> =>
    new Promise((resolve, reject) => {
      if (fault) return reject(fault)
      const text = JSON.stringify({ call: calls + 1, method, args })
      const full = fullOf(text.length)
      if (full !== undefined) return reject(new McpError('ERR_STORE_DOWN', full))
      const number = ++calls
      // This process may have been stopped itself, so it reads the replies that are there first.
      const timer = setTimeout(() => setImmediate(giveUp, number), REPLY_MS).unref()
      waiting.set(number, { method, args, chars: text.length, timer, isGivenUp: false, resolve, reject })
      waitingChars += text.length
      try {
        port.send(text)
      } catch (cause) {
        forget(number)
        reject(new McpError('ERR_STORE_DOWN', 'The process that has the store cannot be reached', { cause }))
      }
    })
  const late = new LateReplies(run)
  const fullOf = (chars: number): string | undefined => {
    if (waiting.size >= MAX_CALLS) return `${MAX_CALLS} calls already wait for the store (maxStoreCalls)`
    if (waiting.size === 0 || waitingChars + chars <= MAX_CALL_CHARS) return undefined
    return `Calls that wait for the store would have more than ${MAX_CALL_CHARS} characters (maxStoreCallChars)`
  }
  const methodsOf = (part: string): object =>
    Object.fromEntries(
      METHODS.filter((method) => method.startsWith(`${part}.`)).map((method) => [
        method.slice(part.length + 1),
        (...args: unknown[]) => run(method, args),
      ]),
    )
  const streams = methodsOf('streams') as SharedStore['streams']
  const ofReplica = methodsOf('replica') as SharedStore['replica']
  const replica = {
    ...ofReplica,
    claimDead: async () => late.claimed() ?? (await ofReplica.claimDead()),
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
    streams: {
      ...streams,
      takeOver: async (...of) => late.takenOver(...of) ?? (await streams.takeOver(...of)),
    },
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

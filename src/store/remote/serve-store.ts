/** `serveStore`: lets another process use a store of this one. */

import { McpError } from '../../protocol/errors.ts'
import type { StoreMessage } from '../replica.ts'
import type { SharedStore } from '../shared-store.ts'
import {
  type CallText,
  MAX_UNREAD,
  METHODS,
  REPORT_AFTER,
  type ReceivedText,
  type ReplyText,
  readText,
  type StorePort,
  type StoreState,
} from './port.ts'
import { taskTexts } from './task-texts.ts'

/** Calls that run at once. Each may have a large result. */
const MAX_RUNNING = 64

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
  const sent = { texts: 0, chars: 0 }
  let received = { texts: 0, chars: 0 }
  /** The other side did not get some messages, and was not told yet. */
  let hasMissed = false
  /** Calls that came while the other side read nothing. It waits for their results, and its calls have a limit. */
  const calls: CallText[] = []
  let running = 0
  const hasRoomFor = (chars: number): boolean => {
    const unread = sent.chars - received.chars
    const fits = unread <= REPORT_AFTER.chars || unread + chars <= MAX_UNREAD.chars
    return fits && sent.texts - received.texts < MAX_UNREAD.texts
  }
  const say = (reply: ReplyText, text = JSON.stringify(reply)): void => {
    sent.texts++
    sent.chars += text.length
    try {
      port.send(text)
    } catch {
      // The other side is gone, and the port will tell.
    }
  }
  /** Messages are hints. A process that does not read them is told later that it missed some, and looks into the store. */
  const pass = (message: StoreMessage): void => {
    const text = JSON.stringify({ state: state(), message } satisfies ReplyText)
    if (message.kind === 'lost' || (!hasMissed && hasRoomFor(text.length))) say({ state: state(), message }, text)
    else hasMissed = true
  }
  store.replica.listen(pass)
  const answer = async ({ call, method, args }: CallText): Promise<void> => {
    try {
      const result = await methodOf(store, method)(...args)
      say({ call, state: state(), result })
    } catch (error) {
      const { code, message } = error instanceof McpError ? error : { code: 'ERR_STORE', message: (error as Error).message }
      say({ call, state: state(), error: { code, message } })
    }
  }
  /** Begins calls while the other side reads their results. */
  const goOn = (): void => {
    while (running < MAX_RUNNING && hasRoomFor(0)) {
      const call = calls.shift()
      if (!call) return
      running++
      void answer(call).then(() => {
        running--
        goOn()
      })
    }
  }
  const take = (text: CallText | ReceivedText): void => {
    if ('call' in text) calls.push(text)
    else {
      received = text.received
      if (hasMissed && hasRoomFor(0)) {
        hasMissed = false
        pass({ kind: 'missed' })
      }
    }
    goOn()
  }
  port.listen(
    (text) => take(readText(text) as CallText | ReceivedText),
    () => {
      calls.length = 0
      void store.close()
    },
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

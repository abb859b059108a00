/** The bus of change notices over the messages between replicas. */

import { callListeners } from '../base/call-observer.ts'
import { isObject } from '../base/json.ts'
import { notices } from '../base/notices.ts'
import type { Bus, Change } from '../protocol/interfaces/replaceable-services.ts'
import { isClosed, isDown } from './faults.ts'
import { onLeft } from './leave-replica.ts'
import type { Replica, StoreMessage } from './replica.ts'

/** How long to wait before the other replicas are told again, or joined again. */
const RETRY_MS = 500

/** To the other replicas: one change, or that some could not be sent. */
type BusNotice = { change: Change } | { areMissing: true }

interface Listener {
  tell(change: Change): void
  onMissed?: (() => void) | undefined
}

/** Listeners of this replica are told at once; those of other replicas when the message arrives. */
export function storeBus(replica: Replica): Bus {
  const listeners = new Set<Listener>()
  let stops: (() => void)[] = []
  let [isMakingUp, owesMessage, isJoining, isReported] = [false, false, false, false]
  const each = (tell: (listener: Listener) => void): void => callListeners(listeners, tell, 'changes')
  const tellMissed = (): void => each(({ onMissed }) => onMissed?.())
  const send = async (notice: BusNotice): Promise<void> => {
    await replica.broadcast(JSON.stringify(notice))
    isReported = false
  }
  /** One message stands for all changes that could not be sent, however many they are. So does one line in the log. */
  const makeUp = async (fault: Error): Promise<void> => {
    if (isDown(fault)) owesMessage = true
    if (isMakingUp) return
    const isNews = !isReported && !isClosed(fault)
    if (isNews) notices.write('error', `portico: store: a change notice did not reach the other replicas: ${fault.message}`)
    isReported = true
    if (!isDown(fault)) return
    isMakingUp = true
    while (owesMessage) {
      await pause()
      owesMessage = false
      await send({ areMissing: true }).catch((error: unknown) => {
        if (isDown(error)) owesMessage = true
      })
    }
    isMakingUp = false
  }
  /** What the others said before this replica was among them did not arrive. */
  const join = async (): Promise<void> => {
    if (isJoining) return
    isJoining = true
    for (let attempt = 0; listeners.size > 0; attempt++) {
      try {
        await replica.join()
        tellMissed()
        break
      } catch (error) {
        if (attempt === 0 && !isClosed(error))
          notices.write('error', `portico: store: change notices of other replicas do not arrive yet: ${(error as Error).message}`)
        if (!isDown(error)) break
        await pause()
      }
    }
    isJoining = false
  }
  const hear = (message: StoreMessage): void => {
    if (message.kind === 'missed') return tellMissed()
    const notice = message.kind === 'message' ? noticeIn(message.json) : undefined
    if (!notice) return
    if ('change' in notice) each(({ tell }) => tell(notice.change))
    else tellMissed()
  }
  return {
    publish: (change) => {
      each(({ tell }) => tell(change))
      send({ change }).catch(makeUp)
    },
    subscribe: (tell, onMissed) => {
      const listener = { tell, onMissed }
      listeners.add(listener)
      // Later, because the listeners of an endpoint that closes end after it has left.
      if (stops.length === 0) stops = [replica.listen(hear), onLeft(replica, () => void pause().then(join))]
      if (!replica.isHeld) void join()
      return () => {
        listeners.delete(listener)
        if (listeners.size > 0) return
        for (const stop of stops) stop()
        stops = []
      }
    },
  }
}

const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, RETRY_MS))

/** The other messages of replicas have a kind. Endpoints also send changes, for servers without a bus. */
function noticeIn(json: string): BusNotice | undefined {
  const message = JSON.parse(json) as unknown
  if (!isObject(message) || message.kind !== undefined) return undefined
  if (isObject(message.change)) return { change: message.change as Change }
  return message.areMissing === true ? { areMissing: true } : undefined
}

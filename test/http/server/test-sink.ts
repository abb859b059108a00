/** Both ends of a reply without a socket, under the hand of a test. */

import type { Clock } from '../../../src/base/clock.ts'
import type { EventSink, Headers, HttpReply, HttpRequestView } from '../../../src/http/server/runtime/request-reply.ts'
import { type FakeClock, fakeClock } from '../../../src/testing/index.ts'

/** A reader that takes what a test says it takes. */
export class TestSink implements EventSink {
  readonly reply = { request: undefined, principal: undefined }
  pending = 0
  taken = 0
  onGone: (() => void) | undefined
  readonly written: string[] = []
  isDestroyed = false
  isEnded = false
  /** What waits for `pending` to become less. */
  waiting: (() => void)[] = []
  write(text: string): void {
    this.written.push(text)
    this.taken += text.length
  }
  whenDrained(listener: () => void): void {
    this.waiting.push(listener)
  }
  end(): void {
    this.isEnded = true
  }
  destroy(): void {
    this.isDestroyed = true
    this.onGone?.()
  }
}

export class TestReply implements HttpReply {
  extraHeaders: Headers | undefined
  endsAt: number | undefined
  request: HttpRequestView | undefined
  principal: string | undefined
  onGone: (() => void) | undefined
  isGone = false
  readonly sent: { status: number; body: string | undefined }[] = []
  readonly sinks: TestSink[] = []
  send(status: number, _headers: Headers, body?: string): void {
    this.sent.push({ status, body })
  }
  open(): TestSink {
    const sink = new TestSink()
    this.sinks.push(sink)
    return sink
  }
  leave(): void {
    this.isGone = true
    this.onGone?.()
  }
}

/** A clock that knows how many timers are set. */
export function countingClock(): { clock: FakeClock; timers(): number } {
  const inner = fakeClock()
  let timers = 0
  const after: Clock['after'] = (ms, fire) => {
    let isSet = true
    timers++
    const unset = (): void => {
      if (isSet) timers--
      isSet = false
    }
    const timer = inner.after(ms, () => {
      unset()
      fire()
    })
    return {
      hold: timer.hold,
      cancel: () => {
        unset()
        timer.cancel()
      },
    }
  }
  return { clock: { ...inner, after }, timers: () => timers }
}

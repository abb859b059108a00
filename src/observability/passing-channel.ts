/** A channel around another one. Its subclasses see the messages; everything else is passed on. */

import type { Incoming } from '../jsonrpc/message.ts'
import type { Outlet } from '../jsonrpc/outlet.ts'
import type { Channel, EndCause } from '../protocol/interfaces/service.ts'

export abstract class PassingChannel implements Channel {
  protected readonly inner: Channel

  constructor(inner: Channel) {
    this.inner = inner
  }

  abstract receive(message: Incoming, outlet: Outlet): void

  get version(): string | undefined {
    return this.inner.version
  }

  get isSaturated(): boolean {
    return this.inner.isSaturated
  }

  get onRelief(): (() => void) | undefined {
    return this.inner.onRelief
  }

  set onRelief(listener: (() => void) | undefined) {
    this.inner.onRelief = listener
  }

  ping(timeoutMs: number): Promise<void> {
    return this.inner.ping(timeoutMs)
  }

  drain(): Promise<void> {
    return this.inner.drain()
  }

  close(reason: string, cause?: EndCause): void {
    this.inner.close(reason, cause)
  }
}

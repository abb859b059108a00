/** An outlet around another one. Its subclasses see the answers; everything else is passed on. */

import type { Arrival, Outlet } from '../jsonrpc/outlet.ts'

export abstract class PassingOutlet implements Outlet {
  protected readonly inner: Outlet

  constructor(inner: Outlet) {
    this.inner = inner
  }

  abstract answer(json: string, errorCode?: number, retryAfterS?: number): void

  abstract drop(): void

  get sender(): unknown {
    return this.inner.sender
  }

  get arrival(): Arrival | undefined {
    return this.inner.arrival
  }

  get canPush(): boolean {
    return this.inner.canPush !== false
  }

  push(json: string, question?: string): undefined | Promise<void> {
    return this.inner.push(json, question)
  }

  get questionId(): (() => string) | undefined {
    return this.inner.questionId?.bind(this.inner)
  }

  release(): void {
    this.inner.release?.()
  }
}

/** The answers of one batch, collected and written as one array when the last of them is in. */

import type { Outlet } from './outlet.ts'

export class BatchOutlet implements Outlet {
  readonly #outlet: Outlet
  readonly #answers: string[] = []
  #open: number

  /** @param requests how many messages of the batch are owed an answer */
  constructor(outlet: Outlet, requests: number) {
    this.#outlet = outlet
    this.#open = requests
  }

  get canPush(): boolean {
    return this.#outlet.canPush !== false
  }

  get sender(): unknown {
    return this.#outlet.sender
  }

  push(json: string): undefined | Promise<void> {
    return this.#outlet.push(json)
  }

  answer(json: string): void {
    this.#answers.push(json)
    this.#close()
  }

  drop(): void {
    this.#close()
  }

  #close(): void {
    if (--this.#open > 0) return
    if (this.#answers.length === 0) this.#outlet.drop()
    else this.#outlet.answer(`[${this.#answers.join(',')}]`)
  }
}

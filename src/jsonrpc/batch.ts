/** Collects the answers of one batch and writes them as one array when the last one is there. */

import type { Outlet } from './outlet.ts'

export class BatchOutlet implements Outlet {
  readonly #outlet: Outlet
  readonly #answers: string[] = []
  #open: number

  /** @param requests the number of messages in the batch that get an answer */
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

  push(json: string, question?: string): undefined | Promise<void> {
    return this.#outlet.push(json, question)
  }

  get questionId(): (() => string) | undefined {
    return this.#outlet.questionId?.bind(this.#outlet)
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

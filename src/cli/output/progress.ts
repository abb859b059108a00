/** A progress bar on one line of standard error. */

import type { Progress } from '../../client/index.ts'
import { safe } from './safe-text.ts'
import type { Screen } from './screen.ts'

const BAR = 24
const MAX_MESSAGE = 60

export class ProgressBar {
  readonly #screen: Screen
  readonly #label: string
  readonly #isQuiet: boolean

  constructor(screen: Screen, label: string, options: { isQuiet?: boolean } = {}) {
    this.#screen = screen
    this.#label = label
    this.#isQuiet = options.isQuiet ?? false
  }

  readonly onProgress = ({ progress, total, message }: Progress): void => {
    if (this.#isQuiet) return
    const { noteStyle } = this.#screen
    const what = message === undefined ? '' : message.slice(0, MAX_MESSAGE)
    if (total === undefined || !(total > 0)) {
      this.#screen.showTransient(safe`${noteStyle.cyan(this.#label)} ${progress} ${noteStyle.dim(what)}`)
      return
    }
    // Infinity / Infinity is NaN.
    const share = Math.min(1, Math.max(0, progress / total || 0))
    const full = Math.round(share * BAR)
    const bar = safe`${noteStyle.green('█'.repeat(full))}${noteStyle.dim('░'.repeat(BAR - full))}`
    this.#screen.showTransient(safe`${noteStyle.cyan(this.#label)} ${bar} ${Math.round(share * 100)}% ${noteStyle.dim(what)}`)
  }

  /** For work whose share is not known. */
  say(message: string): void {
    const { noteStyle } = this.#screen
    if (!this.#isQuiet) this.#screen.showTransient(safe`${noteStyle.cyan(this.#label)} ${noteStyle.dim(message.slice(0, MAX_MESSAGE))}`)
  }

  end(): void {
    this.#screen.clear()
  }
}

/** Prints the lines of the tour. Prints nothing when the output is JSON. */

import { NOTHING, type SafeText, type Showable, safe, untrustedLines } from '../output/safe-text.ts'
import type { Screen } from '../output/screen.ts'

export interface TellOptions {
  /** Columns before the line. Default: 4. */
  indent?: number
  /** A sign or a word before the text. Its width must be given, because it has a style. */
  mark?: { text: SafeText; width: number }
  style?(line: Showable): SafeText
}

const DEFAULT_INDENT = 4

export function tell(screen: Screen, text: string, { indent = DEFAULT_INDENT, mark, style }: TellOptions = {}): void {
  if (screen.isJson) return
  const lead = indent + (mark === undefined ? 0 : mark.width + 1)
  const shown = untrustedLines(text).hanging(lead)
  screen.print(safe`${' '.repeat(indent)}${mark === undefined ? NOTHING : safe`${mark.text} `}${style?.(shown) ?? shown}`)
}

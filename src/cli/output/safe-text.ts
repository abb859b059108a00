/**
 * Text that is fit for a terminal. The printing layer takes nothing else, and a plain string that is put into one is made
 * visible first: so no text of a server, whatever way it took, moves the cursor, writes the clipboard or hides a word.
 */

import { groundedMarks, visibleText } from '../../base/text/visible-text.ts'
import { cutTo, expandTabs, widthOf } from './width.ts'

export class SafeText {
  readonly #text: string

  private constructor(text: string) {
    this.#text = text
  }

  /** The bytes for a terminal or a file, styles and all. */
  get text(): string {
    return this.#text
  }

  /** Our own words, which stand in the source. What is put between them is somebody else's, unless it is Shown already. */
  static words(parts: TemplateStringsArray, ...values: readonly Showable[]): SafeText {
    return new SafeText(parts.reduce((text, part, i) => text + toSafeText(values[i - 1] ?? '').text + part))
  }

  /** One line, as wide as it says: line breaks are made visible as well, tabs are spaces, and no mark is drawn over what is before it. */
  static oneLine(text: string): SafeText {
    return new SafeText(groundedMarks(expandTabs(visibleText(text))))
  }

  /** Line breaks stay, everything else that does not print is made visible. */
  static lines(text: string): SafeText {
    return new SafeText(visibleText(text, { multiline: true }))
  }

  static join(parts: readonly Showable[], separator: Showable = ''): SafeText {
    return new SafeText(parts.map((part) => toSafeText(part).text).join(toSafeText(separator).text))
  }

  /** How many columns it takes; of text without styles. */
  get width(): number {
    return widthOf(this.#text)
  }

  /** At most so many columns, with an ellipsis for what is left out; of text without styles. */
  cut(columns: number): SafeText {
    return this.width <= columns ? this : new SafeText(`${cutTo(this.#text, Math.max(0, columns - 1))}…`)
  }

  padEnd(columns: number): SafeText {
    return new SafeText(this.#text + ' '.repeat(Math.max(0, columns - this.width)))
  }

  /** Every line moved to the right, the first one too. */
  indented(by: number): SafeText {
    return new SafeText(this.#text.replaceAll(/^(?=.)/gm, ' '.repeat(by)))
  }

  /** The same with a style around it; `style` adds nothing but codes of its own. */
  styled(style: (text: string) => string): SafeText {
    return new SafeText(style(this.#text))
  }
}

export type Showable = string | number | SafeText

const toSafeText = (value: Showable): SafeText => (value instanceof SafeText ? value : SafeText.oneLine(String(value)))

/** `words\`tool ${tool.name}\`` */
export const safe = SafeText.words

/** Somebody else's text on one line. */
export const untrusted = (text: string): SafeText => SafeText.oneLine(text)

/** Somebody else's text with its lines. */
export const untrustedLines = (text: string): SafeText => SafeText.lines(text)

export const NOTHING = safe``
export const LINE_BREAK = safe`\n`

/**
 * Text that is fit for a terminal. The printing layer takes nothing else, and a plain string that is put into one is made
 * visible first: so no text of a server, whatever way it took, moves the cursor, writes the clipboard or hides a word.
 */

import { groundedMarks, visibleText } from '../../base/text/visible-text.ts'
import { cutTo, expandTabs, widthOf } from './width.ts'

export class Shown {
  readonly #text: string

  private constructor(text: string) {
    this.#text = text
  }

  /** The bytes for a terminal or a file, styles and all. */
  get text(): string {
    return this.#text
  }

  /** Our own words, which stand in the source. What is put between them is somebody else's, unless it is Shown already. */
  static words(parts: TemplateStringsArray, ...values: readonly Showable[]): Shown {
    return new Shown(parts.reduce((text, part, i) => text + toShown(values[i - 1] ?? '').text + part))
  }

  /** One line, as wide as it says: line breaks are made visible as well, tabs are spaces, and no mark is drawn over what is before it. */
  static oneLine(text: string): Shown {
    return new Shown(groundedMarks(expandTabs(visibleText(text))))
  }

  /** Line breaks stay, everything else that does not print is made visible. */
  static lines(text: string): Shown {
    return new Shown(visibleText(text, { multiline: true }))
  }

  static join(parts: readonly Showable[], separator: Showable = ''): Shown {
    return new Shown(parts.map((part) => toShown(part).text).join(toShown(separator).text))
  }

  /** How many columns it takes; of text without styles. */
  get width(): number {
    return widthOf(this.#text)
  }

  /** At most so many columns, with an ellipsis for what is left out; of text without styles. */
  cut(columns: number): Shown {
    return this.width <= columns ? this : new Shown(`${cutTo(this.#text, Math.max(0, columns - 1))}…`)
  }

  padEnd(columns: number): Shown {
    return new Shown(this.#text + ' '.repeat(Math.max(0, columns - this.width)))
  }

  /** Every line moved to the right, the first one too. */
  indented(by: number): Shown {
    return new Shown(this.#text.replaceAll(/^(?=.)/gm, ' '.repeat(by)))
  }

  /** The same with a style around it; `style` adds nothing but codes of its own. */
  styled(style: (text: string) => string): Shown {
    return new Shown(style(this.#text))
  }
}

export type Showable = string | number | Shown

const toShown = (value: Showable): Shown => (value instanceof Shown ? value : Shown.oneLine(String(value)))

/** `words\`tool ${tool.name}\`` */
export const words = Shown.words

/** Somebody else's text on one line. */
export const untrusted = (text: string): Shown => Shown.oneLine(text)

/** Somebody else's text with its lines. */
export const untrustedLines = (text: string): Shown => Shown.lines(text)

export const NOTHING = words``
export const LINE_BREAK = words`\n`

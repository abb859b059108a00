/**
 * Text that is safe to print on a terminal. The printing layer accepts nothing else. Plain strings are escaped when they are put into
 * one, so text from a server cannot move the cursor, write the clipboard or hide a word.
 */

import { groundedMarks, visibleText } from '../../base/text/visible-text.ts'
import { cutTo, expandTabs, widthOf } from './width.ts'

/** Some terminals draw it two columns wide. */
const ELLIPSIS = '…'

export class SafeText {
  readonly #text: string

  private constructor(text: string) {
    this.#text = text
  }

  /** The text for a terminal or a file, including styles. */
  get text(): string {
    return this.#text
  }

  /** Marks literal text of the source as safe. Inserted values are escaped, unless they are SafeText already. */
  static words(parts: TemplateStringsArray, ...values: readonly Showable[]): SafeText {
    return new SafeText(parts.reduce((text, part, i) => text + toSafeText(values[i - 1] ?? '').text + part))
  }

  /** One line: line breaks are escaped too, tabs become spaces, and combining marks cannot cover the text before them. */
  static oneLine(text: string): SafeText {
    return new SafeText(groundedMarks(expandTabs(visibleText(text))))
  }

  /** Keeps line breaks and escapes everything else that does not print. */
  static lines(text: string): SafeText {
    return new SafeText(visibleText(text, { multiline: true }))
  }

  static join(parts: readonly Showable[], separator: Showable = ''): SafeText {
    return new SafeText(parts.map((part) => toSafeText(part).text).join(toSafeText(separator).text))
  }

  /** Width in columns, for text without styles. */
  get width(): number {
    return widthOf(this.#text)
  }

  /** Cut to this width, with an ellipsis. For text without styles. */
  cut(columns: number): SafeText {
    return this.width <= columns ? this : new SafeText(`${cutTo(this.#text, Math.max(0, columns - widthOf(ELLIPSIS)))}${ELLIPSIS}`)
  }

  /** The lines one by one. For text without styles. */
  split(): SafeText[] {
    return this.#text.split('\n').map((line) => new SafeText(line))
  }

  padEnd(columns: number): SafeText {
    return new SafeText(this.#text + ' '.repeat(Math.max(0, columns - this.width)))
  }

  /** Every line indented. */
  indented(by: number): SafeText {
    return new SafeText(this.#text.replaceAll(/^(?=.)/gm, ' '.repeat(by)))
  }

  /** Every line but the first indented. */
  hanging(by: number): SafeText {
    return new SafeText(this.#text.replaceAll(/\n(?=.)/g, `\n${' '.repeat(by)}`))
  }

  /**
   * An address as a link for terminals that have links (OSC 8). Characters that an encoded address cannot have are left out, so that it
   * cannot end the link.
   */
  linked(href: string): SafeText {
    const target = href.replaceAll(/[^\x21-\x7e]/gu, '')
    return new SafeText(`\u001b]8;;${target}\u001b\\${this.#text}\u001b]8;;\u001b\\`)
  }

  /** The same text with a style. `style` must add only its own control codes. */
  styled(style: (text: string) => string): SafeText {
    return new SafeText(style(this.#text))
  }
}

export type Showable = string | number | SafeText

const toSafeText = (value: Showable): SafeText => (value instanceof SafeText ? value : SafeText.oneLine(String(value)))

/** ``safe`tool ${tool.name}` `` */
export const safe = SafeText.words

/** Untrusted text on one line. */
export const untrusted = (text: string): SafeText => SafeText.oneLine(text)

/** Untrusted text with its line breaks. */
export const untrustedLines = (text: string): SafeText => SafeText.lines(text)

export const NOTHING = safe``
export const LINE_BREAK = safe`\n`

/** Small changes of a text, which leave everything else as it was. */

export interface Range {
  start: number
  end: number
}

/** What replaces a range: text, and ranges of the old text with the changes inside them. */
export type Part = string | Range

interface Edit extends Range {
  parts: readonly Part[]
}

export class Edits {
  readonly #text: string
  readonly #edits: Edit[] = []

  constructor(text: string) {
    this.#text = text
  }

  get isEmpty(): boolean {
    return this.#edits.length === 0
  }

  replace({ start, end }: Range, ...parts: Part[]): void {
    this.#edits.push({ start, end, parts })
  }

  insert(at: number, text: string): void {
    this.#edits.push({ start: at, end: at, parts: [text] })
  }

  /** Whether a change covers the range, so that a second one would be lost or doubled. */
  covers({ start, end }: Range): boolean {
    return this.#edits.some((edit) => edit.start <= start && edit.end >= end && edit.end > edit.start)
  }

  result(): string {
    return this.#render({ start: 0, end: this.#text.length }, undefined)
  }

  #render(range: Range, inside: Edit | undefined): string {
    const within = this.#edits
      .filter((edit) => edit !== inside && edit.start >= range.start && edit.end <= range.end && !isAround(edit, inside))
      .sort((a, b) => a.start - b.start || (a.end === a.start ? 0 : 1) - (b.end === b.start ? 0 : 1) || b.end - a.end)
    let done = range.start
    let output = ''
    for (const edit of within) {
      if (edit.start < done) continue // inside a change that was rendered already
      output += this.#text.slice(done, edit.start)
      for (const part of edit.parts) output += typeof part === 'string' ? part : this.#render(part, edit)
      done = edit.end
    }
    return output + this.#text.slice(done, range.end)
  }
}

/** A change that contains the one being rendered. */
const isAround = (edit: Edit, inside: Edit | undefined): boolean =>
  inside !== undefined && edit.start <= inside.start && edit.end >= inside.end && edit.end > edit.start

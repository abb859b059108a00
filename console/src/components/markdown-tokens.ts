/** Reads markdown of others into tokens. The lexer of the library can take minutes for text that was made for that, so its work is bounded. */

import { Lexer, type Token, Tokenizer, type Tokens } from 'marked'

/** Longer text is cut: the rest stays as it is. */
const MAX_CHARACTERS = 100_000
/** The lexer stops after this time, and the rest stays as it is. Usual text of 100,000 characters takes 10 ms. */
const MAX_MS = 150
/** Longer paragraphs stay as they are: one step of the lexer may look at all of it. */
const MAX_PARAGRAPH = 10_000
/** Tokens that become elements. */
const MAX_TOKENS = 4_000
/** Quotes and lists in each other. The lexer calls itself for each level. */
const MAX_NESTED = 20

export interface MarkdownTokens {
  tokens: readonly Token[]
  /** What was not read. */
  rest: string
}

class OutOfBudget extends Error {}

/** @param now for tests: milliseconds */
export function markdownTokens(text: string, now: () => number = () => performance.now()): MarkdownTokens {
  const source = text.replace(/\r\n|\r/g, '\n')
  const read = source.slice(0, lineEnd(source, MAX_CHARACTERS))
  const end = now() + MAX_MS
  const check = (): void => {
    if (now() > end) throw new OutOfBudget()
  }
  const lexer = new Lexer({ gfm: true, tokenizer: new BoundedTokenizer(check) })
  const tokens: Token[] = []
  const isWhole = within(() => lexer.blockTokens(read, tokens))
  for (const { src, tokens: inner } of lexer.inlineQueue) {
    const isDone = src.length <= MAX_PARAGRAPH && within(() => lexer.inlineTokens(src, inner))
    if (!isDone) inner.splice(0, inner.length, { type: 'text', raw: src, text: src } satisfies Tokens.Text)
  }
  return cut(tokens, source, isWhole)
}

/** Looks at the time before each token, and stops at quotes and lists that are nested too deeply. */
class BoundedTokenizer extends Tokenizer {
  readonly #check: () => void
  #depth = 0

  constructor(check: () => void) {
    super()
    this.#check = check
  }

  override space(src: string) {
    this.#check()
    return super.space(src)
  }

  override escape(src: string) {
    this.#check()
    return super.escape(src)
  }

  override blockquote(src: string) {
    return this.#nested(() => super.blockquote(src))
  }

  override list(src: string) {
    return this.#nested(() => super.list(src))
  }

  #nested<T>(read: () => T): T {
    if (this.#depth >= MAX_NESTED) throw new OutOfBudget()
    this.#depth++
    try {
      return read()
    } finally {
      this.#depth--
    }
  }
}

/** False: the budget is used up, or the lexer failed. */
function within(work: () => unknown): boolean {
  try {
    work()
    return true
  } catch {
    return false
  }
}

/** Keeps the first tokens of a text, as many as may become elements. */
function cut(tokens: readonly Token[], source: string, isWhole: boolean): MarkdownTokens {
  let left = MAX_TOKENS
  let at = 0
  const kept: Token[] = []
  for (const token of tokens) {
    left -= countOf(token, left)
    if (left < 0) break
    kept.push(token)
    at += token.raw.length
  }
  const isAll = isWhole && kept.length === tokens.length && source.length <= MAX_CHARACTERS
  return { tokens: kept, rest: isAll ? '' : source.slice(at) }
}

/** The number of tokens in a token. Counts no further than `most`. */
function countOf(token: Token, most: number): number {
  let count = 1
  const { tokens, items, header, rows } = token as {
    tokens?: Token[]
    items?: Token[]
    header?: Tokens.TableCell[]
    rows?: Tokens.TableCell[][]
  }
  const cells = [...(header ?? []), ...(rows ?? []).flat()].flatMap((cell) => cell.tokens)
  for (const inner of [...(tokens ?? []), ...(items ?? []), ...cells]) {
    if (count > most) break
    count += countOf(inner, most - count)
  }
  return count
}

/** The end of the last line that fits. */
function lineEnd(text: string, most: number): number {
  if (text.length <= most) return text.length
  const line = text.lastIndexOf('\n', most - 1)
  return line > 0 ? line + 1 : most
}

/** Glob patterns: `*` matches anything but `/`, `**` matches anything. Anchored at both ends. Matching takes linear time. */

type Token = string | typeof WITHIN_SEGMENT | typeof ANYTHING

const WITHIN_SEGMENT = Symbol('*')
const ANYTHING = Symbol('**')

export type TextTest = (text: string) => boolean

export const hasWildcard = (pattern: string): boolean => pattern.includes('*')

export function compileGlob(pattern: string): TextTest {
  const tokens = tokenize(pattern)
  const wild = tokens.filter((token) => typeof token !== 'string').length
  if (wild === 0) return (text) => text === pattern
  if (wild === 1) return oneWildcard(tokens)
  return (text) => simulate(tokens, text)
}

/** Splits a pattern into texts and wildcards. More than two stars in a row count as two. */
function tokenize(pattern: string): Token[] {
  const tokens: Token[] = []
  for (const piece of pattern.split(/(\*+)/)) {
    if (piece === '') continue
    tokens.push(!piece.startsWith('*') ? piece : piece.length === 1 ? WITHIN_SEGMENT : ANYTHING)
  }
  return tokens
}

function oneWildcard(tokens: readonly Token[]): TextTest {
  const at = tokens.findIndex((token) => typeof token !== 'string')
  const before = (tokens[at - 1] as string | undefined) ?? ''
  const after = (tokens[at + 1] as string | undefined) ?? ''
  const crosses = tokens[at] === ANYTHING
  return (text) => {
    if (text.length < before.length + after.length || !text.startsWith(before) || !text.endsWith(after)) return false
    if (crosses) return true
    const slash = text.indexOf('/', before.length)
    return slash === -1 || slash >= text.length - after.length
  }
}

/** Tracks all positions where the tokens so far can end, so that no backtracking is needed. */
function simulate(tokens: readonly Token[], text: string): boolean {
  let ends: Uint8Array = new Uint8Array(text.length + 1)
  ends[0] = 1
  for (const token of tokens) {
    const next = new Uint8Array(text.length + 1)
    if (typeof token === 'string') {
      for (let at = text.indexOf(token); at !== -1; at = text.indexOf(token, at + 1)) if (ends[at]) next[at + token.length] = 1
    } else {
      let isReached = false
      for (let at = 0; at <= text.length; at++) {
        if (token === WITHIN_SEGMENT && at > 0 && text.charCodeAt(at - 1) === 47) isReached = false
        if (ends[at]) isReached = true
        if (isReached) next[at] = 1
      }
    }
    ends = next
  }
  return ends[text.length] === 1
}

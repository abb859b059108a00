/** Removes secrets from text and JSON values. It recognises them by the name of a member or by the form of the value. */

const SECRET_NAME =
  /pass(?:word|wd|phrase)|secret|token|authorization|api[-_]?key|private[-_]?key|cookie|credential|session[-_]?id|^pin$|^otp$/i

// Counts of a model's tokens, not secrets.
const COUNT_NAME = /tokens$/i

// Each pattern takes linear time: the start of a match cannot occur inside the text that the match consumes.
const SECRET_VALUES: readonly RegExp[] = [
  /\b(?:Bearer|DPoP)\s+(?:[\w\-.~+/]{16,}|(?=[A-Za-z_\-.~+/]{0,15}\d)[\w\-.~+/]{8,})=*/gi,
  // "basic" is also a common word. Base64 is recognised by its padding, its digits or its length.
  /\bBasic\s+(?:[A-Za-z0-9+/]{4,}={1,2}|(?=[A-Za-z+/]{0,63}\d)[A-Za-z0-9+/]{10,}|[A-Za-z0-9+/]{24,})=*/gi,
  /(?<![\w-])[\w-]{0,32}?eyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)*/g,
  /(?<![A-Za-z0-9])(?:sk|pk|rk)[-_](?:(?=[A-Za-z_-]{0,40}\d)[\w-]{12,}|[A-Za-z0-9]{20,})/g,
  /(?<![A-Za-z0-9])(?:gh[oprsu]_[A-Za-z0-9]{16,}|github_pat_\w{16,}|xox[abeprs]-[A-Za-z0-9-]{10,}|glpat-[\w-]{16,})/g,
  /(?<![A-Za-z0-9])(?:AKIA|ASIA)[A-Z0-9]{12,}(?![A-Za-z0-9])/g,
  /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g,
  // Any scheme. A pattern that starts with the scheme would be tried at every letter of the text.
  /(:\/\/[^\s/:@]{0,256}:)[^\s/@]{1,256}(?=@)/g,
  /((?:pass(?:word|wd|phrase)|secret|token|api[-_]?key)=["']?)[^\s"'&;,]{3,}/gi,
]

const HIDDEN = '[redacted]'
const MAX_DEPTH = 16

/** A copy of a JSON value with secrets replaced. */
export function redact(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return redactText(value)
  if (typeof value !== 'object' || value === null) return value
  if (depth >= MAX_DEPTH) return '[too deep]'
  if (Array.isArray(value)) return value.map((each) => redact(each, depth + 1))
  // Not by assignment: that would set the prototype for the key `__proto__` and lose the value.
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [key, SECRET_NAME.test(key) ? hide(key, each, depth + 1) : redact(each, depth + 1)]),
  )
}

/**
 * The value of a member with a secret name. Strings, numbers (except counts) and lists of them are hidden. Booleans and null stay. The
 * members of an object are judged by their own names.
 */
function hide(name: string, value: unknown, depth: number): unknown {
  if (typeof value === 'string') return HIDDEN
  if (typeof value === 'number') return COUNT_NAME.test(name) ? value : HIDDEN
  return Array.isArray(value) && depth < MAX_DEPTH ? value.map((each) => hide(name, each, depth + 1)) : redact(value, depth)
}

/** Whether a variable, header, option or member with this name holds a secret. */
export const isSecretName = (name: string): boolean => SECRET_NAME.test(name) && !COUNT_NAME.test(name)

export const redactText = (text: string): string =>
  SECRET_VALUES.reduce(
    (current, pattern) => current.replace(pattern, (_match, kept: unknown) => (typeof kept === 'string' ? kept + HIDDEN : HIDDEN)),
    text,
  )

/** How many places of a text look like secrets. Places that are redacted already do not count. */
export function countSecrets(text: string): number {
  let count = 0
  SECRET_VALUES.reduce(
    (current, pattern) =>
      current.replace(pattern, (match, kept: unknown) => {
        if (!match.includes(HIDDEN)) count++
        return typeof kept === 'string' ? kept + HIDDEN : HIDDEN
      }),
    text,
  )
  return count
}

/** Whether a text as a whole looks like a secret. */
export const isSecretText = (text: string): boolean => redactText(text) === HIDDEN

/** Every pattern recognises a secret by at most this many of its first characters. */
const MAX_PART = 1024

/** The start of a text with secrets replaced. Takes time for the kept part only, however long the text is. */
export function redactHead(text: string, maxChars: number): string {
  const head = redactText(text.slice(0, maxChars + MAX_PART))
  // A secret that is cut in half may not be recognised, so the part that could hold one is dropped.
  const isWhole = text.length <= maxChars + MAX_PART || head.endsWith(HIDDEN)
  const end = isWhole ? head.length : Math.max(0, head.length - MAX_PART)
  return head.slice(0, Math.min(maxChars, end))
}

export interface CutValue {
  value: unknown
  /** Whether parts of the value were dropped. */
  isCut: boolean
}

/** The cost of a number, boolean, null or container, so that long lists of them are cut too. */
const PLAIN_CHARS = 4
const MAX_CUT_DEPTH = 64

/**
 * A copy of a JSON value that is cut after `maxChars` characters of texts and names. Call it before `redact`. The text at
 * the cut is already redacted.
 */
export function cutTexts(value: unknown, maxChars: number): CutValue {
  let left = maxChars
  let isCut = false
  const text = (each: string): string => {
    const room = Math.max(0, left)
    left -= each.length
    if (each.length <= room) return each
    isCut = true
    return redactHead(each, room)
  }
  const visit = (each: unknown, depth: number): unknown => {
    if (typeof each === 'string') return text(each)
    left -= PLAIN_CHARS
    if (typeof each !== 'object' || each === null) return each
    if (depth > MAX_CUT_DEPTH) return '[too deep]'
    if (Array.isArray(each)) {
      const items: unknown[] = []
      for (const item of each) {
        if (left <= 0) break
        items.push(visit(item, depth + 1))
      }
      if (items.length < each.length) isCut = true
      return items
    }
    const members: [string, unknown][] = []
    const names = Object.keys(each)
    for (const name of names) {
      if (left <= 0) break
      left -= name.length
      members.push([name, visit((each as Record<string, unknown>)[name], depth + 1)])
    }
    if (members.length < names.length) isCut = true
    return Object.fromEntries(members)
  }
  return { value: visit(value, 0), isCut }
}

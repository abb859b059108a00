/** Keeps secrets out of what leaves the process: by the name of a member, and by the look of a value. */

const SECRET_NAME =
  /pass(?:word|wd|phrase)|secret|token|authorization|api[-_]?key|private[-_]?key|cookie|credential|session[-_]?id|^pin$|^otp$/i

const SECRET_VALUES: readonly RegExp[] = [
  /\b(?:Bearer|DPoP|Basic)\s+[A-Za-z0-9\-._~+/]{8,}=*/g,
  /\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*/g,
  /\b(?:sk|pk|rk|ghp|gho|ghs|ghu|github_pat|xox[abprs]|glpat|AKIA|ASIA)[-_A-Za-z0-9]{12,}/g,
  /-----BEGIN [A-Z ]*PRIVATE KEY-----[^-]*(?:-----END [A-Z ]*PRIVATE KEY-----)?/g,
  /([a-z][a-z0-9+.-]{1,20}:\/\/[^\s/:@]{0,256}:)[^\s/@]{1,256}(?=@)/gi,
]

const HIDDEN = '[redacted]'
const MAX_DEPTH = 16

/** A copy of a JSON value without what looks like a secret. */
export function redact(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return redactText(value)
  if (typeof value !== 'object' || value === null) return value
  if (depth >= MAX_DEPTH) return '[too deep]'
  if (Array.isArray(value)) return value.map((each) => redact(each, depth + 1))
  const copy: Record<string, unknown> = {}
  for (const [key, each] of Object.entries(value)) {
    copy[key] = SECRET_NAME.test(key) && (typeof each === 'string' || typeof each === 'number') ? HIDDEN : redact(each, depth + 1)
  }
  return copy
}

export const redactText = (text: string): string =>
  SECRET_VALUES.reduce(
    (current, pattern) => current.replace(pattern, (_match, kept: unknown) => (typeof kept === 'string' ? kept + HIDDEN : HIDDEN)),
    text,
  )

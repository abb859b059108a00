/** Makes server names that are safe in rules, grants, files and commands. */

const MAX_CHARS = 64

/** Reduces a name to letters, digits, `.`, `_` and `-`. A slash, for example, would make `server/tool` ambiguous. */
export function safeName(name: string): string {
  const safe = name
    .normalize('NFKC')
    .replace(/[^A-Za-z0-9._-]+/g, '-')
    .slice(0, MAX_CHARS)
    .replace(/^[-.]+|[-.]+$/g, '')
  // Names such as `constructor` exist on every object.
  return safe === '' || safe in {} ? `server${safe === '' ? '' : `-${safe}`}`.slice(0, MAX_CHARS) : safe
}

/** The name, or the first of `name-suffix`, `name-2`, `name-3`, … that is not taken. */
export function freeName(name: string, taken: ReadonlySet<string>, suffix?: string): string {
  if (!taken.has(name)) return name
  const base = suffix === undefined ? name : `${name.slice(0, MAX_CHARS - 20)}-${safeName(suffix).toLowerCase().slice(0, 18)}`
  if (suffix !== undefined && !taken.has(base)) return base
  for (let count = 2; ; count++) {
    const next = `${base.slice(0, MAX_CHARS - 6)}-${count}`
    if (!taken.has(next)) return next
  }
}

/** Names that every provider takes for a tool, for tools that servers named in their own way. */

export interface ToolNames {
  /** What the model is given. */
  given(name: string): string
  /** What it meant; the name itself when nothing was given under it. */
  meant(name: string): string
}

const SAFE_NAME = /^[A-Za-z0-9_-]{1,64}$/
const MAX_CHARS = 64

export function toolNames(names: readonly string[]): ToolNames {
  const meant = new Map<string, string>()
  const given = new Map<string, string>()
  // Safe names first: they keep theirs, whatever stands before them.
  for (const name of names) if (SAFE_NAME.test(name)) meant.set(name, name)
  const give = (name: string): string => {
    if (SAFE_NAME.test(name)) return name
    const known = given.get(name)
    if (known !== undefined) return known
    let alias: string
    let number = given.size
    do {
      const suffix = `_${number++}`
      alias = name.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, MAX_CHARS - suffix.length) + suffix
    } while (meant.has(alias))
    meant.set(alias, name)
    given.set(name, alias)
    return alias
  }
  for (const name of names) give(name)
  return { given: give, meant: (name) => meant.get(name) ?? name }
}

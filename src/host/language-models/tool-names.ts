/** Maps tool names to names that every provider accepts. */

export interface ToolNames {
  /** The name for the model. */
  given(name: string): string
  /** The original name. An unknown name is returned as it is. */
  meant(name: string): string
}

const SAFE_NAME = /^[A-Za-z0-9_-]{1,64}$/
const MAX_CHARS = 64

export function toolNames(names: readonly string[]): ToolNames {
  const meant = new Map<string, string>()
  const given = new Map<string, string>()
  // Names that are already safe come first, so that they stay unchanged.
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

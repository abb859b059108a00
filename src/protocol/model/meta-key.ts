/** Keys of `_meta`: a name with an optional prefix of dotted labels. Some prefixes are reserved for MCP. */

export type MetaKey = { isValid: true; prefix: string | undefined; name: string; isReserved: boolean } | { isValid: false; fault: string }

const LABEL = /^[A-Za-z](?:[A-Za-z0-9-]*[A-Za-z0-9])?$/
const NAME = /^(?:[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)?$/

/** Splits a key, or describes what is wrong with it. The prefix has no slash; the name may be empty. */
export function readMetaKey(key: string): MetaKey {
  const slash = key.indexOf('/')
  const prefix = slash < 0 ? undefined : key.slice(0, slash)
  const name = key.slice(slash + 1)
  const labels = prefix === undefined ? [] : prefix.split('.')
  const bad = labels.find((label) => !LABEL.test(label))
  if (bad !== undefined)
    return invalid(
      key,
      `label ${JSON.stringify(bad)} of its prefix must start with a letter, end with a letter or digit, and contain only letters, digits and hyphens`,
    )
  if (!NAME.test(name))
    return invalid(
      key,
      `name ${JSON.stringify(name)} must start and end with a letter or digit, and contain only letters, digits, "-", "_" and "."`,
    )
  return { isValid: true, prefix, name, isReserved: isReservedPrefix(labels) }
}

const invalid = (key: string, fault: string): MetaKey => ({
  isValid: false,
  fault: `${JSON.stringify(key)} is not a valid key of _meta: ${fault}`,
})

const OWNERS = new Set(['modelcontextprotocol', 'mcp'])

// The older rule reserves domain names (mcp.dev), the newer one reversed domain names (dev.mcp). Both apply.
const isReservedPrefix = (labels: readonly string[]): boolean =>
  OWNERS.has(labels[1] ?? '') || labels.slice(0, -1).some((label) => OWNERS.has(label))

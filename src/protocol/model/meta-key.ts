/** Keys of `_meta`: an optional prefix of dotted labels with a slash, and a name. Some prefixes belong to MCP. */

export type MetaKey = { isValid: true; prefix: string | undefined; name: string; isReserved: boolean } | { isValid: false; fault: string }

const LABEL = /^[A-Za-z](?:[A-Za-z0-9-]*[A-Za-z0-9])?$/
const NAME = /^(?:[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)?$/

/** Takes a key apart, or says what is wrong with it. The prefix comes without its slash; the name may be empty. */
export function readMetaKey(key: string): MetaKey {
  const slash = key.indexOf('/')
  const prefix = slash < 0 ? undefined : key.slice(0, slash)
  const name = key.slice(slash + 1)
  const labels = prefix === undefined ? [] : prefix.split('.')
  const bad = labels.find((label) => !LABEL.test(label))
  if (bad !== undefined)
    return invalid(
      key,
      `label ${JSON.stringify(bad)} of its prefix must start with a letter, end with a letter or digit, and have only hyphens beside`,
    )
  if (!NAME.test(name))
    return invalid(key, `name ${JSON.stringify(name)} must start and end with a letter or digit, and have only "-", "_" and "." beside`)
  return { isValid: true, prefix, name, isReserved: isReservedPrefix(labels) }
}

const invalid = (key: string, fault: string): MetaKey => ({ isValid: false, fault: `${JSON.stringify(key)} is no key of _meta: ${fault}` })

const OWNERS = new Set(['modelcontextprotocol', 'mcp'])

// The older rule was written for domains as people read them (mcp.dev), the newer for reversed ones (dev.mcp); both hold.
const isReservedPrefix = (labels: readonly string[]): boolean =>
  OWNERS.has(labels[1] ?? '') || labels.slice(0, -1).some((label) => OWNERS.has(label))

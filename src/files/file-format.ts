/** Versions of stored JSON files: a newer file is refused, an older one is upgraded. */

import { isObject } from '../base/json.ts'

export interface FileFormat {
  /** The version that this program writes. The first is 1. */
  version: number
  /** The member of the file that holds the data. Undefined: the data is the whole object, and `version` a member of it. */
  member?: string
  /** Converts the data of each older version to the next one. The first step reads files without a version. */
  upgrades: readonly ((data: unknown) => unknown)[]
}

export interface FormattedData {
  data: unknown
  /** The version of the file; 0 if it has none. */
  version: number
  /** Whether the data was upgraded from an older version. */
  isOutdated: boolean
}

/**
 * The data of a parsed file, upgraded to the current version.
 * @throws Error for a newer version, or a version that is not a number
 */
export function readFormat(parsed: unknown, format: FileFormat): FormattedData {
  const { version: newest, member, upgrades } = format
  const found = versionIn(parsed, format)
  if (found > newest) throw new Error(`it has version ${found}, and this program reads versions up to ${newest}; update Portico`)
  const stored = found === 0 || member === undefined ? parsed : (parsed as Record<string, unknown>)[member]
  const data = upgrades.slice(found).reduce((former, upgrade) => upgrade(former), stored)
  return { data, version: found, isOutdated: found < newest }
}

/** The file with its version. */
export const writeFormat = (data: unknown, { version, member }: FileFormat): unknown =>
  member === undefined ? { ...(data as object), version } : { version, [member]: data }

function versionIn(parsed: unknown, { member }: FileFormat): number {
  // Without a version the whole file is the data, which may have any members.
  const isMarked = isObject(parsed) && Object.hasOwn(parsed, 'version') && (member === undefined || Object.hasOwn(parsed, member))
  if (!isMarked) return 0
  const { version } = parsed
  if (!Number.isSafeInteger(version) || (version as number) < 1)
    throw new Error(`expected version: a whole number from 1, got ${JSON.stringify(version)}`)
  return version as number
}

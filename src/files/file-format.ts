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
}

/**
 * The data of a parsed file, upgraded to the current version.
 * @throws Error for a newer version, or a version that is not a number
 */
export function readFormat(parsed: unknown, format: FileFormat): FormattedData {
  const version = versionIn(parsed, format)
  if (version > format.version)
    throw new Error(`it has version ${version}, and this program reads versions up to ${format.version}; update Portico`)
  const stored = version === 0 || format.member === undefined ? parsed : (parsed as Record<string, unknown>)[format.member]
  const data = format.upgrades.slice(version).reduce((former, upgrade) => upgrade(former), stored)
  return { data, version }
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

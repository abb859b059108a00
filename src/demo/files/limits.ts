/** The bounds of the files server. Each is an option of the same name. */

export interface FilesLimits {
  /** What one read gives out, of files of any size. */
  maxReadBytes: number
  /** The largest file that is written, edited or hashed. */
  maxFileBytes: number
  /** Entries that one list gives out. */
  maxEntries: number
  /** Matches that one search gives out. */
  maxMatches: number
  /** Entries that one search, or the removal of one folder, looks at. */
  maxVisited: number
  /** What one search reads. */
  maxSearchBytes: number
  /** How deep folders are gone into. */
  maxDepth: number
  /** Folders watched for subscribers; the one asked for longest ago gives way. */
  maxWatched: number
}

export const DEFAULT_FILES_LIMITS: FilesLimits = {
  maxReadBytes: 1024 * 1024,
  maxFileBytes: 16 * 1024 * 1024,
  maxEntries: 1000,
  maxMatches: 200,
  maxVisited: 100_000,
  maxSearchBytes: 512 * 1024 * 1024,
  maxDepth: 64,
  maxWatched: 256,
}

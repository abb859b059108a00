/** The limits of the files server. The command has no options for them; tests make them small. */

export interface FilesLimits {
  /** Maximum number of bytes that one read returns, of a file of any size. */
  maxReadBytes: number
  /** Maximum size of a file that is written, edited or hashed. */
  maxFileBytes: number
  /** Maximum number of entries that one list returns. */
  maxEntries: number
  /** Maximum number of matches that one search returns. */
  maxMatches: number
  /** Maximum number of entries that one search, or the removal of one folder, visits. */
  maxVisited: number
  /** Maximum number of bytes that one search reads. */
  maxSearchBytes: number
  /** Maximum depth of nested folders. */
  maxDepth: number
  /** Maximum number of folders watched for subscribers. The least recently requested one is dropped. */
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

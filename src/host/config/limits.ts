/** Limits on reading configuration files. */

export interface ConfigLimits {
  /** Maximum size of one file. */
  maxFileBytes: number
  /** Maximum size of a client state file (such as `.claude.json`), which contains more than the list of servers. */
  maxStateBytes: number
  /** Maximum number of servers in one file, and in all files together. */
  maxServers: number
  /** Maximum number of files to find and read. */
  maxFiles: number
  /** Maximum number of problems reported per file. */
  maxProblems: number
}

export const DEFAULT_CONFIG_LIMITS: ConfigLimits = {
  maxFileBytes: 1024 * 1024,
  maxStateBytes: 16 * 1024 * 1024,
  maxServers: 500,
  maxFiles: 200,
  maxProblems: 100,
}

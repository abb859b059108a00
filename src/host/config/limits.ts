/** How much of a configuration is read. */

export interface ConfigLimits {
  /** How large a file may be. */
  maxFileBytes: number
  /** How large one may be in which a client keeps its whole state, with the servers among it. */
  maxStateBytes: number
  /** How many servers one file may name, and how many all files together. */
  maxServers: number
  /** How many files are looked for and read. */
  maxFiles: number
  /** How many problems of one file are kept. */
  maxProblems: number
}

export const DEFAULT_CONFIG_LIMITS: ConfigLimits = {
  maxFileBytes: 1024 * 1024,
  maxStateBytes: 16 * 1024 * 1024,
  maxServers: 500,
  maxFiles: 200,
  maxProblems: 100,
}

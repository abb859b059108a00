/** The options of `server.skills`. */

/** Options for `server.skills`. All are optional. */
export interface SkillsOptions {
  /** Whether clients can list the folders of skills. Default: true. */
  directoryRead?: boolean
  /** Whether changes of the files are noticed at once. Otherwise they are noticed when a file is read. Default: true. */
  watch?: boolean
  /** The scopes that a caller needs to see and use the skills, if the transport has authorization. */
  scopes?: readonly string[]
  /** The most files and folders in the folder. Default: 10,000. */
  maxEntries?: number
  /** Receives warnings: a skill that became unusable, two skills with the same name. Default: writes to standard error. */
  onWarning?(message: string): void
}

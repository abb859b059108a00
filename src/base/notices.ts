/** What the log says that is no fault. */

export const notices = {
  /**
   * Writes to standard error, because standard output may carry messages of the protocol. A program whose log has levels
   * replaces this function.
   */
  write(_level: 'info' | 'warn', text: string): void {
    console.error(text)
  },
}

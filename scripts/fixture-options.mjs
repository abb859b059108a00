/** What the fixture programs share: one clear line for a wrong command line, and an end together with npm. */

/** Prints one line and exits. */
export function refuse(text) {
  console.error(text)
  process.exit(2)
}

/**
 * Ends this process when npm is gone. npm passes SIGTERM to its shell only, and the shell does not pass it on.
 * Started without npm, the process may outlive its parent.
 */
export function endWithNpm() {
  if (process.env.npm_lifecycle_event === undefined) return
  const parent = process.ppid
  setInterval(() => {
    if (process.ppid !== parent) process.kill(process.pid, 'SIGTERM')
  }, 200).unref()
}

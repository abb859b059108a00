/** Commands for people: shell quoting keeps one argument with a space from looking like two. */

/**
 * A command as one line that a shell would split into the same words.
 *
 * @example
 * commandText('node', ['server.js', 'my notes']) // "node server.js 'my notes'"
 */
export const commandText = (command: string, args: readonly string[]): string => [command, ...args].map(quoted).join(' ')

const quoted = (word: string): string => (/^[\w@%+=:,./${}-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)

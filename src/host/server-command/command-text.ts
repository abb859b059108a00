/** Formats a command with shell quoting, so that one argument with a space does not look like two. */

export const commandText = (command: string, args: readonly string[]): string => [command, ...args].map(quoted).join(' ')

const quoted = (word: string): string => (/^[\w@%+=:,./${}-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)

/** How the person can type the command again: `portico`, or as npm started it. */

import { RemoteError } from '../client/index.ts'
import type { Io } from './io.ts'
import { type SafeText, untrustedLines } from './output/safe-text.ts'

/** npm tells the programs that it starts how. The name alone works only where the package is installed globally. */
export function commandName({ env }: Pick<Io, 'env'>): string {
  if (env.npm_command === undefined) return 'portico'
  return env.npm_lifecycle_event === 'start' && env.npm_package_name === 'portico' ? 'npm start --' : 'npx portico'
}

/** The command without words after it: `npm start`, not `npm start --`. */
export const bareCommand = (io: Pick<Io, 'env'>): string => commandName(io).replace(/ --$/, '')

type Typing = Pick<Io, 'env' | 'isShell'>

/** A command as the person can type it: `grants` in the shell, `npx portico grants` elsewhere. */
export const typedCommand = (io: Typing, words: string): string =>
  io.isShell && IN_SHELL.test(words) ? words : `${io.isShell ? 'portico' : commandName(io)} ${words}`

/** Commands that the shell takes without `portico` before them. */
const IN_SHELL = /^(?:servers|secrets|policy|grants|pins|inbox|tasks|doctor|audit)(?![\w-])/

/** A text of ours with its commands as the person can type them. */
export const typedText = (io: Typing, text: string): string => text.replaceAll(TYPED, (_name, words: string) => typedCommand(io, words))

/** The same for a hint or a message. */
export const asTyped = (io: Typing, hint: SafeText): SafeText => untrustedLines(typedText(io, hint.text))

/** The message of an error. What a server wrote stays as it is. */
export const ownWords = (io: Typing, error: unknown, message: SafeText): SafeText =>
  error instanceof RemoteError ? message : asTyped(io, message)

/** The name where a command begins: at the start of a line, in quotes or brackets, after a colon. Elsewhere it is the name of the project. */
const TYPED = /(?<=^ *|["(]|: )portico (-|[a-z]+|[[<])/gm

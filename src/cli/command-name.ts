/** How the person can type the command again: `portico`, or `npx portico` if it was started through npm. */

import type { Io } from './io.ts'
import { type SafeText, untrusted } from './output/safe-text.ts'

/** npm sets `npm_command` for the programs that it starts. The name alone works only where the package is installed globally. */
export const commandName = ({ env }: Pick<Io, 'env'>): string => (env.npm_command === undefined ? 'portico' : 'npx portico')

/** A hint with its commands as the person can type them. */
export const asTyped = (io: Pick<Io, 'env'>, hint: SafeText): SafeText =>
  untrusted(hint.text.replaceAll(/(?<=^|["(]|: )portico(?= [a-z])/g, commandName(io)))

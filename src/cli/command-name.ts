/** How the person can type the command again: `portico`, or `npx portico` if it was started through npm. */

import type { Io } from './io.ts'

/** npm sets `npm_command` for the programs that it starts. The name alone works only where the package is installed globally. */
export const commandName = ({ env }: Pick<Io, 'env'>): string => (env.npm_command === undefined ? 'portico' : 'npx portico')

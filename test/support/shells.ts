/** Shells that completion is made for: bash, zsh and fish, the packages of Debian. */

import { installPrograms } from './packages.ts'

export const SHELLS = ['bash', 'zsh', 'fish'] as const

export const installShells = (): void => installPrograms(Object.fromEntries(SHELLS.map((shell) => [shell, shell])))

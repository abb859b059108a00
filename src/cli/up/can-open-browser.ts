/** Whether the command may open a browser at its start, without being asked to. */

import type { Io } from '../io.ts'

interface Surroundings {
  platform?: NodeJS.Platform
  /** Default: whether this process runs as root. */
  isRoot?: boolean
}

/** False where a browser would open on no screen or on another person's: in CI, over ssh, as root, without a display. */
export function canOpenBrowser(
  { env }: Pick<Io, 'env'>,
  { platform = process.platform, isRoot = process.getuid?.() === 0 }: Surroundings = {},
): boolean {
  const isSet = (name: string): boolean => env[name] !== undefined && env[name] !== ''
  if (isRoot || (isSet('CI') && env.CI !== 'false') || isSet('SSH_CONNECTION') || isSet('SSH_TTY')) return false
  return platform === 'darwin' || platform === 'win32' || isSet('DISPLAY') || isSet('WAYLAND_DISPLAY')
}

/** The folder for private data of the user, as each operating system prescribes it. */

import { homedir } from 'node:os'
import { join } from 'node:path'

export function userFolder(part: string): string {
  const { XDG_STATE_HOME, LOCALAPPDATA } = process.env
  if (process.platform === 'darwin') return join(homedir(), 'Library', 'Application Support', 'portico', part)
  if (process.platform === 'win32') return join(LOCALAPPDATA || join(homedir(), 'AppData', 'Local'), 'portico', part)
  return join(XDG_STATE_HOME || join(homedir(), '.local', 'state'), 'portico', part)
}

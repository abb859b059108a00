/** Opens a page that the person agreed to, and always shows its address: over ssh there is no browser to open. */

import type { Invocation } from '../command-runner.ts'
import type { Io } from '../io.ts'
import { safe } from '../output/safe-text.ts'

/** `login`: the command waits until the person has logged in there. */
export type PagePurpose = 'login' | 'page'

export async function openPage(invocation: Invocation, url: string, purpose: PagePurpose): Promise<void> {
  const { openBrowser } = await import('../../auth/index.ts')
  const isOpening =
    hasDisplay(invocation.io) &&
    (await openBrowser(url).then(
      () => true,
      () => false,
    ))
  showPage(invocation, url, purpose, isOpening)
}

/** The address stands alone on its line, so that it can be clicked and copied. */
export function showPage({ screen }: Invocation, url: string, purpose: PagePurpose, isOpening: boolean): void {
  screen.note(safe`${isOpening ? 'Your browser opens this page. If it does not, open it yourself:' : 'Open this page in a browser:'}`)
  screen.note(safe`${url}`)
  if (purpose === 'login') screen.note(safe`${screen.noteStyle.dim('Waiting for the login ...')}`)
}

/** False where a browser would open on no screen, or on the screen of another machine. */
export function hasDisplay({ env }: Pick<Io, 'env'>, platform: NodeJS.Platform = process.platform): boolean {
  if (platform === 'win32' || platform === 'darwin') return env.SSH_CONNECTION === undefined
  // xdg-open also works without a display, for example in WSL. With ssh the display is the one that ssh forwards.
  return env.SSH_CONNECTION === undefined || env.DISPLAY !== undefined || env.WAYLAND_DISPLAY !== undefined
}

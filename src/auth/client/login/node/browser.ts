/** Opens a page in the browser of the system, without a shell. */

import { spawn } from 'node:child_process'
import { isPersonUrl } from '../../../../base/address/person-url.ts'
import { authError } from '../../errors.ts'

interface Opener {
  command: string
  args(url: string): string[]
}

const OPENERS: Partial<Record<NodeJS.Platform, Opener>> = {
  darwin: { command: 'open', args: (url) => [url] },
  win32: { command: 'rundll32', args: (url) => ['url.dll,FileProtocolHandler', url] },
}
const OTHERS: Opener = { command: 'xdg-open', args: (url) => [url] }

/** Resolves when the program has been started. Whether a page appears is unknown. */
export async function openBrowser(text: string): Promise<void> {
  if (!isPersonUrl(text)) throw authError('browser', 'Expected a page that is https or on this machine')
  // The parsed form contains no spaces, quotes or line breaks, and cannot be mistaken for an option.
  const { href, username, password } = new URL(text)
  if (username !== '' || password !== '') throw authError('browser', 'Expected the address of a page without a user name')
  const { command, args } = OPENERS[process.platform] ?? OTHERS
  await new Promise<void>((resolve, reject) => {
    const child = spawn(command, args(href), { shell: false, stdio: 'ignore', detached: true, windowsHide: true })
    child.once('spawn', () => {
      child.unref()
      resolve()
    })
    // The original error contains the address, and the address contains secrets.
    child.once('error', ({ code }: NodeJS.ErrnoException) =>
      reject(authError('browser', `No browser could be opened (${command}: ${code}). Set the option openBrowser or redirect`)),
    )
  })
}

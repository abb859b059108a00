/** Opens a page in the person's browser. The address is one argument of a fixed program: no shell ever reads it. */

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

/** Resolves when the program has been started; whether a page appears is the person's to see. */
export async function openBrowser(text: string): Promise<void> {
  if (!isPersonUrl(text)) throw authError('browser', 'Only https pages, and pages on this machine, are opened in a browser')
  // As the parser writes it: no spaces, no quotes, no line breaks, and it begins with its scheme.
  const { href, username, password } = new URL(text)
  if (username !== '' || password !== '') throw authError('browser', 'A page whose address holds a user name is not opened')
  const { command, args } = OPENERS[process.platform] ?? OTHERS
  await new Promise<void>((resolve, reject) => {
    const child = spawn(command, args(href), { shell: false, stdio: 'ignore', detached: true, windowsHide: true })
    child.once('spawn', () => {
      child.unref()
      resolve()
    })
    // The error itself has the address in it, and that has secrets in it.
    child.once('error', ({ code }: NodeJS.ErrnoException) =>
      reject(authError('browser', `No browser could be opened (${command}: ${code}); give openBrowser or redirect`)),
    )
  })
}

/** Opening a page in the person's browser, loaded when it is used because it needs Node. */

/**
 * Opens an https page, or a page on this machine, in the person's browser. The address is one argument of a fixed program, so no
 * shell reads it. Resolves when the program was started.
 *
 * @throws McpError ERR_AUTH when no browser can be started, or the address must not be opened
 * @example
 * await openBrowser('https://login.example/authorize?...')
 */
export async function openBrowser(url: string): Promise<void> {
  const node = await import('./login/node/browser.ts')
  return node.openBrowser(url)
}

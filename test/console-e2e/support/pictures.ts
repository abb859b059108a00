/** Pictures for the docs: WebP, because it is a fifth of the size of PNG. */

import { writeFileSync } from 'node:fs'
import type { Page } from 'playwright-core'

/** @param path without its extension */
export async function savePicture(page: Page, path: string): Promise<void> {
  const session = await page.context().newCDPSession(page)
  const { data } = await session.send('Page.captureScreenshot', { format: 'webp', quality: 80 })
  writeFileSync(`${path}.webp`, Buffer.from(data, 'base64'))
}

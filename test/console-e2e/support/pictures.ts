/** Pictures for the docs: WebP, because it is a fifth of the size of PNG. */

import { writeFileSync } from 'node:fs'
import type { Page } from 'playwright-core'

/** @param path without its extension @param names texts that only this computer has, and what the picture shows instead */
export async function savePicture(page: Page, path: string, names: Readonly<Record<string, string>>): Promise<void> {
  await page.evaluate(`{
    const names = Object.entries(${JSON.stringify(names)})
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
    for (let node = texts.nextNode(); node; node = texts.nextNode())
      for (const [name, shown] of names) if (node.data.includes(name)) node.data = node.data.replaceAll(name, shown)
  }`)
  const session = await page.context().newCDPSession(page)
  const { data } = await session.send('Page.captureScreenshot', { format: 'webp', quality: 80 })
  writeFileSync(`${path}.webp`, Buffer.from(data, 'base64'))
}

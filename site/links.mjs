/** Checks every link of the built site: the page, the anchor and the picture that it names. */

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** @returns one line for each link that leads nowhere */
export function brokenLinks(folder) {
  const pages = new Map(
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.html') && name !== '404.html')
      .map((name) => {
        const html = readFileSync(join(folder, name), 'utf8')
        const ids = new Set([...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => textOf(id)))
        return [`/${name.replaceAll('\\', '/')}`, { html, ids }]
      }),
  )
  const pageAt = (path) => pages.get(path.endsWith('/') ? `${path}index.html` : `${path}.html`) ?? pages.get(path)
  const broken = []
  for (const [name, { html }] of pages) {
    const base = `http://site${name}`
    for (const [, attribute, target] of html.matchAll(/ (href|src)="([^"]*)"/g)) {
      const url = new URL(textOf(target), base)
      if (url.host !== 'site') continue
      const path = decodeURIComponent(url.pathname)
      const page = pageAt(path)
      const isFile = existsSync(join(folder, path)) && path !== dirname(path)
      if (!page && !isFile) broken.push(`${name}: ${attribute} ${target}`)
      else if (page && url.hash && !page.ids.has(decodeURIComponent(url.hash.slice(1)))) broken.push(`${name}: no such heading: ${target}`)
    }
  }
  return broken
}

const textOf = (html) =>
  html.replaceAll('&quot;', '"').replaceAll('&#39;', "'").replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&')

/** The examples in the documentation: every TypeScript block of README.md and docs/. */

import { readdirSync, readFileSync } from 'node:fs'
import { root } from './setup.mjs'

export const pages = [
  'README.md',
  ...readdirSync(`${root}/docs`)
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
]

/** @returns each file that a page shows, with the page: a block that begins with its path: ```markdown [folder/FILE.md] */
export function shownFiles() {
  return pages.flatMap((page) => {
    const text = readFileSync(`${root}/${page}`, 'utf8')
    return [...text.matchAll(/^```\w+ \[(\S+)\]\n([\s\S]*?)^```$/gm)].map(([, path, content]) => ({ page, path, content }))
  })
}

/** @returns each example with its page, line, code and file name. A comment in its first lines can name the file. */
export function snippets() {
  return pages.flatMap((page) => {
    const text = readFileSync(`${root}/${page}`, 'utf8')
    return [...text.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map((match, i) => {
      const code = match[1]
      const line = text.slice(0, match.index).split('\n').length
      return { page, line, code, file: /^\/\/ (\S+\.mjs)$/m.exec(code)?.[1] ?? `${page.replaceAll(/\W/g, '-')}-${i}.mjs` }
    })
  })
}

/** npm run site: writes the API reference, builds the documentation site into site/dist, and checks every link in it. */

import { copyFileSync, existsSync, mkdirSync, readdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { build } from 'vitepress'
import { writeApiReference } from './api.mjs'
import { brokenLinks } from './links.mjs'
import { root } from './subpaths.mjs'

const folder = `${root}site/dist`
const started = performance.now()
await writeApiReference()
const written = performance.now()
await build(`${root}site`)
for (const file of ['llms.txt', 'docs/images/console-tools.webp', ...markdown()]) {
  const target = `${folder}/${file.replace('docs/images/', 'images/')}`
  mkdirSync(dirname(target), { recursive: true })
  copyFileSync(root + file, target)
}
for (const name of readdirSync(`${root}examples`).filter((name) => existsSync(`${root}examples/${name}/README.md`))) {
  mkdirSync(`${folder}/examples/${name}`, { recursive: true })
  copyFileSync(`${root}examples/${name}/README.md`, `${folder}/examples/${name}/README.txt`)
}
const broken = brokenLinks(folder)
if (broken.length > 0) throw new Error(`Links that lead nowhere:\n${broken.join('\n')}`)
const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
const bytes = files.reduce((sum, name) => sum + (statSync(`${folder}/${name}`).isFile() ? statSync(`${folder}/${name}`).size : 0), 0)
const pages = files.filter((name) => name.endsWith('.html')).length
const seconds = (from, to) => ((to - from) / 1000).toFixed(1)
console.log(
  `${pages} pages, ${(bytes / 1e6).toFixed(1)} MB in site/dist; API reference ${seconds(started, written)} s, site ${seconds(written, performance.now())} s`,
)

/** The pages as Markdown, beside llms.txt, which names them. */
function markdown() {
  return readdirSync(`${root}docs`)
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`)
}

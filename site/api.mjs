/** Writes the API reference: one Markdown page for each subpath of the package, from the JSDoc in its declarations. */

import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Application } from 'typedoc'
import { slug } from './slug.mjs'
import { root, subpaths } from './subpaths.mjs'

/** The folder of the pages. git ignores it, and the package does not contain it. */
const apiFolder = `${root}docs/api`

export async function writeApiReference() {
  rmSync(apiFolder, { recursive: true, force: true })
  const entries = subpaths()
  const app = await Application.bootstrapWithPlugins({
    plugin: ['typedoc-plugin-markdown'],
    entryPoints: entries.map(({ types }) => types),
    basePath: `${root}dist`,
    tsconfig: `${root}site/tsconfig.json`,
    skipErrorChecking: true,
    outputs: [{ name: 'markdown', path: apiFolder }],
    readme: 'none',
    disableSources: true,
    excludeInternal: true,
    excludePrivate: true,
    logLevel: 'Error',
    // Several subpaths export the same types. A link to a name that no subpath exports is plain text.
    validation: false,
    outputFileStrategy: 'modules',
    entryFileName: 'index',
    hideBreadcrumbs: true,
    hidePageHeader: true,
    hidePageTitle: false,
    pageTitleTemplates: { module: '{name}', index: 'API reference' },
    expandObjects: false,
    parametersFormat: 'table',
    interfacePropertiesFormat: 'table',
    typeAliasPropertiesFormat: 'table',
    sanitizeComments: true,
  })
  const project = await app.convert()
  if (project === undefined) throw new Error('The declarations in dist/ cannot be read')
  for (const each of project.children ?? []) {
    const entry = entries.find(({ types }) => [`${root}dist/${each.name}.d.ts`, `${root}dist/${each.name}/index.d.ts`].includes(types))
    if (!entry) throw new Error(`${each.name} is not a subpath of the package`)
    each.name = entry.name
  }
  await app.generateOutputs(project)
  if (app.logger.hasErrors()) throw new Error('The API reference could not be written')
  repairAnchors()
}

/** A name that differs from another only in case gets a number in links, but not in its heading. */
function repairAnchors() {
  const files = readdirSync(apiFolder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.md'))
  const texts = new Map(files.map((file) => [join(apiFolder, file), readFileSync(join(apiFolder, file), 'utf8')]))
  const anchors = new Map([...texts].map(([file, text]) => [file, anchorsOf(text)]))
  for (const [file, text] of texts) {
    const repaired = text.replaceAll(/\]\(([^)#]*)#([\w-]+)-\d+\)/g, (link, page, anchor) => {
      const there = anchors.get(page === '' ? file : join(dirname(file), page))
      return there?.has(link.slice(link.indexOf('#') + 1, -1)) || !there?.has(anchor) ? link : `](${page}#${anchor})`
    })
    writeFileSync(file, repaired)
  }
}

function anchorsOf(text) {
  const found = new Set([...text.matchAll(/<a id="([^"]+)">/g)].map(([, id]) => id))
  const counts = new Map()
  for (const [, heading] of text.matchAll(/^#+ (.+)$/gm)) {
    const id = slug(heading.replaceAll(/\\|`/g, ''))
    const count = counts.get(id) ?? 0
    counts.set(id, count + 1)
    found.add(count === 0 ? id : `${id}-${count}`)
  }
  return found
}

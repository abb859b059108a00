/** The documentation site: docs/*.md and the API reference, with search, in light and dark. */

import { defineConfig } from 'vitepress'
import { sections } from '../pages.mjs'
import { slug } from '../slug.mjs'
import { root, subpaths } from '../subpaths.mjs'

const about = new Map(sections().flatMap(({ pages }) => pages.map((page) => [page.file, page])))

const HOME = {
  layout: 'home',
  hero: {
    name: 'Portico',
    text: 'The Model Context Protocol in TypeScript',
    tagline: 'Servers, clients, and a host that asks before it acts. One code base, every protocol revision.',
    image: { src: '/images/console-tools.webp', alt: 'The console: a tool with its form, and its result' },
    actions: [
      { theme: 'brand', text: 'Your first server', link: '/tutorial-server' },
      { theme: 'alt', text: 'Your first agent', link: '/tutorial-agent' },
      { theme: 'alt', text: 'Find a task', link: '/how-to' },
    ],
  },
  features: [
    {
      title: 'Write once',
      details: 'The same handler serves every protocol revision, over stdio, HTTP and in process.',
      link: '/revisions',
    },
    {
      title: 'Ask anywhere',
      details: 'await ctx.elicit(): a question to the person in the middle of a tool, also without sessions.',
      link: '/server#asking',
    },
    {
      title: 'Stay in control',
      details: 'The host starts, approves and calls nothing that your policy or your answer does not allow.',
      link: '/security-model',
    },
    {
      title: 'Run it anywhere',
      details: 'One process or many replicas, with health checks, metrics and a graceful stop.',
      link: '/deployment',
    },
  ],
}

const pages = sections().map(({ title, pages }) => ({
  text: title,
  collapsed: false,
  items: pages.map(({ file, name }) => ({ text: name, link: `/${file.replace(/\.md$/, '')}` })),
}))
const api = {
  text: 'API reference',
  items: [{ text: 'Overview', link: '/api/' }, ...subpaths().map(({ name }) => ({ text: name, link: `/api/${name}` }))],
}

/** The API reference comes first on its own pages. */
const sidebar = {
  '/': [...pages, { ...api, collapsed: true }],
  '/api/': [{ ...api, collapsed: false }, ...pages.map((section) => ({ ...section, collapsed: true }))],
}

/** The pages of the examples are outside of docs/. The site has copies of them as text. */
function linkExamples({ tokens }) {
  for (const token of tokens.flatMap(({ children }) => children ?? [])) {
    const [, path] = /^\.\.\/(examples\/.+)\.md$/.exec(token.attrGet?.('href') ?? '') ?? []
    if (path === undefined) continue
    token.attrSet('href', `/${path}.txt`)
    token.attrSet('target', '_self')
  }
}

/** What the search knows of a page: all of it, but of the API reference only headings and prose. Colours for code would take seconds. */
function searched(source, env, md) {
  const isApi = env.relativePath.startsWith('api/')
  const text = isApi ? source.replaceAll(/^(?:[|>].*|```[\s\S]*?^```)$/gm, '') : source.replaceAll(/^```\w+$/gm, '```text')
  return md.render(text, env)
}

export default defineConfig({
  title: 'Portico',
  description: 'The Model Context Protocol in TypeScript: servers, clients and a host.',
  lang: 'en',
  srcDir: '../docs',
  outDir: './dist',
  cacheDir: '../.cache/vitepress',
  cleanUrls: true,
  metaChunk: true,
  vite: { publicDir: `${root}console/public`, build: { chunkSizeWarningLimit: 4000 } },
  lastUpdated: false,
  markdown: { anchor: { slugify: slug }, config: (md) => md.core.ruler.push('examples', linkExamples) },
  head: [['link', { rel: 'icon', type: 'image/svg+xml', href: '/icon.svg' }]],
  transformPageData(page) {
    if (page.relativePath === 'index.md') return { title: 'Documentation', frontmatter: { ...page.frontmatter, ...HOME } }
    const description = about.get(page.relativePath)?.description
    return description === undefined ? undefined : { description }
  },
  themeConfig: {
    nav: [
      { text: 'Tutorials', link: '/tutorial-server' },
      { text: 'How to', link: '/how-to' },
      { text: 'Host', link: '/host' },
      { text: 'API', link: '/api/' },
    ],
    sidebar,
    outline: { level: [2, 3] },
    search: { provider: 'local', options: { _render: searched } },
    docFooter: { prev: 'Previous page', next: 'Next page' },
    externalLinkIcon: true,
  },
})

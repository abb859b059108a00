import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
// @ts-expect-error a plain script without types
import { root } from '../../scripts/setup.mjs'
// @ts-expect-error a plain script without types
import { indexPage, llmsText, sections } from '../../site/pages.mjs'

const listed = (sections() as { pages: { file: string; description: string }[] }[]).flatMap(({ pages }) => pages)

test('every page of the documentation is in the sidebar, once', () => {
  const pages = readdirSync(`${root}/docs`).filter((name) => name.endsWith('.md') && name !== 'index.md')
  expect(listed.map(({ file }) => file).sort()).toEqual(pages.sort())
})

test.each([
  ['docs/index.md', indexPage],
  ['llms.txt', llmsText],
])('%s lists every page with a line about it', (file, textOf: () => string) => {
  const text = textOf()
  if (process.env.UPDATE_DOCS === '1') writeFileSync(`${root}/${file}`, text)
  expect(readFileSync(`${root}/${file}`, 'utf8')).toBe(text)
  for (const { description } of listed) expect(description).toMatch(/^\S.{10,100}\.$/)
})

test('the package contains every page, the list of them, and the picture of the README', () => {
  const { files } = JSON.parse(readFileSync(`${root}/package.json`, 'utf8')) as { files: string[] }
  expect(files).toEqual(expect.arrayContaining(['docs/*.md', 'llms.txt']))
  const [, picture] = /!\[[^\]]*\]\(([^)]+)\)/.exec(readFileSync(`${root}/README.md`, 'utf8')) ?? []
  expect(files).toContain(picture)
})

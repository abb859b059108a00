import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
// @ts-expect-error a plain script without types
import { PORTABLE } from '../../scripts/portable.mjs'
// @ts-expect-error a plain script without types
import { root } from '../../scripts/setup.mjs'

const portable = PORTABLE as string[]

const filesOf = (path: string): string[] =>
  statSync(`${root}${path}`).isDirectory()
    ? readdirSync(`${root}${path}`, { recursive: true, encoding: 'utf8' })
        .map((name) => `${path}${name.replaceAll('\\', '/')}`)
        .filter((file) => /\.m?ts$/.test(file))
    : [path]

/** The files of the tests that these files import, too, each with a file that imports it. */
function withImports(files: readonly string[]): Map<string, string> {
  const found = new Map<string, string>()
  const add = (file: string, from: string): void => {
    if (found.has(file) || !file.startsWith('test/') || !existsSync(`${root}${file}`)) return
    found.set(file, from)
    for (const [, path = ''] of readFileSync(`${root}${file}`, 'utf8').matchAll(/(?:from|import\() ?'(\.[^']+)'/g))
      add(join(dirname(file), path).replaceAll('\\', '/'), file)
  }
  for (const file of files) add(file, 'the list')
  return found
}

/** Programs of one system, root, terminals and browsers. */
const NOT_PORTABLE =
  /'(?:sh|bash|\/bin\/sh|apt-get|sudo|cp|tar|mkfifo|unshare|openssl|nginx|redis-server|docker)'|playwright|node-pty|\/proc\/|getuid|process\.kill\(-|mkfifo/

test('the list of portable tests names folders and files that contain tests', () => {
  expect(portable).toEqual([...new Set(portable)].sort())
  for (const path of portable)
    expect(
      filesOf(path).filter((file) => file.endsWith('.test.ts')),
      path,
    ).not.toEqual([])
})

test('no portable test uses programs of one system, root, a terminal or a browser', () => {
  const wrong = [...withImports(portable.flatMap(filesOf))].flatMap(([file, from]) => {
    const [word] = NOT_PORTABLE.exec(readFileSync(`${root}${file}`, 'utf8')) ?? []
    return word === undefined ? [] : [`${file} (from ${from}) has ${word}`]
  })
  expect(wrong).toEqual([])
})

test('the check finds what is not portable', () => {
  const found = [...withImports(filesOf('test/redis/')).keys()].filter((file) => NOT_PORTABLE.test(readFileSync(`${root}${file}`, 'utf8')))
  expect(found).not.toEqual([])
})

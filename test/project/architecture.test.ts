import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
// @ts-expect-error a plain script without types
import { root } from '../../scripts/setup.mjs'
import { proves } from '../support/proves.ts'

const text = readFileSync(`${root}/ARCHITECTURE.md`, 'utf8')

test.each(['ARCHITECTURE.md', 'CONTRIBUTING.md'])('every file and folder that %s names exists', (page) => {
  const names = readFileSync(`${root}/${page}`, 'utf8').matchAll(
    /`((?:src|test|scripts|requirements|bench|examples|docs|deploy|site|\.github)\/[^`\s]*)`/g,
  )
  const named = [...names].map(([, path]) => path as string).filter((path) => !path.includes('NAME'))
  expect(named.length).toBeGreaterThan(30)
  for (const path of named) expect(existsSync(`${root}/${path}`), path).toBe(true)
})

test('every folder of src is described', () => {
  for (const folder of readdirSync(`${root}/src`, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name))
    expect(text).toContain(`\`src/${folder}/\``)
})

/** The folder of each row of the table of folders, with the names in backticks that end with a slash in the same row. */
const rooms = [...text.matchAll(/^\| `(src\/\w+\/)` \|.*$/gm)].flatMap(([row, folder]) =>
  [...row.matchAll(/`([\w-]+)\/`/g)].map(([, room]) => ({ folder: folder as string, room: room as string })),
)

test('every room that ARCHITECTURE.md names exists', () => {
  expect(rooms.length).toBeGreaterThan(40)
  const isIn = (folder: string, room: string): boolean =>
    readdirSync(`${root}/${folder}`, { recursive: true, encoding: 'utf8' }).some((path) => path === room || path.endsWith(`/${room}`))
  const missing = rooms.filter(({ folder, room }) => !isIn(folder, room) && !existsSync(`${root}/src/${room}`))
  expect(missing).toEqual([])
})

test('ARCHITECTURE.md names every room of the host in their order, and every folder of the command', () => {
  const [, order = ''] = /have an order, too: `([^`]+)`/.exec(text) ?? []
  const named = order.split(/\s*<-\s*|,\s*/).filter((name) => !name.endsWith('.ts'))
  const foldersOf = (folder: string): string[] =>
    readdirSync(`${root}/${folder}`, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name)
  expect(named.toSorted()).toEqual(foldersOf('src/host').toSorted())
  const command = rooms.filter(({ folder }) => folder === 'src/cli/').map(({ room }) => room)
  for (const folder of foldersOf('src/cli')) expect(command).toContain(folder)
})

const sources = readdirSync(`${root}/src`, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'))

test.each([
  ['AbortSignal.any with an inline timeout: Node collects the timeout before its time', /AbortSignal\.any\(\[[^\]]*AbortSignal\.timeout/],
  ['String() of what others threw or sent: it runs their own toString. Use asText()', /(?<![\w.])String\((error|cause|reason)\)/],
])('no source uses %s', (_what, pattern) => {
  expect(sources.length).toBeGreaterThan(100)
  expect(sources.filter((file) => pattern.test(readFileSync(`${root}/src/${file}`, 'utf8')))).toEqual([])
})

test('every part of the protocol has its place in ARCHITECTURE.md', () => {
  proves('T-BASE-006')
  const places = [
    'src/jsonrpc/json-rpc-endpoint.ts',
    'src/protocol/model/lifecycle.ts',
    'src/auth/client/oauth.ts',
    'src/auth/server/resource-server.ts',
    'src/server/features/tools.ts',
    'src/client/answer-server.ts',
    ...['progress', 'logging', 'completion'].map((utility) => `src/protocol/model/${utility}.ts`),
  ]
  for (const path of places) expect(existsSync(`${root}/${path}`), path).toBe(true)
})

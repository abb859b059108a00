/** The rooms of src/host import each other in one direction only, types included. */

import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const root = fileURLToPath(new URL('../../', import.meta.url))
const host = join(root, 'src/host')
const ROOT_FILES = ['create-host.ts', 'host.ts', 'index.ts', 'options.ts']

const files = readdirSync(host, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'))

/** The room of a file, or the file itself if it is at the root of src/host. Undefined outside of src/host. */
const roomOf = (file: string): string | undefined => (file.startsWith('..') ? undefined : file.split(sep)[0])

/** The rooms that each room imports, with one import as evidence. */
function graph(): Map<string, Map<string, string>> {
  const edges = new Map<string, Map<string, string>>()
  for (const file of files) {
    const from = roomOf(file) as string
    const text = readFileSync(join(host, file), 'utf8')
    for (const [, specifier = ''] of text.matchAll(/(?:from |import\()'(\.[^']+)'/g)) {
      const target = relative(host, join(host, dirname(file), specifier))
      const to = roomOf(target)
      if (to === undefined || to === from) continue
      const known = edges.get(from) ?? new Map<string, string>()
      edges.set(from, known.set(to, `${file} imports ${target}`))
    }
  }
  return edges
}

/** The imports of one cycle, or an empty list. */
function cycleIn(edges: Map<string, Map<string, string>>): string[] {
  const done = new Set<string>()
  const visit = (room: string, path: readonly string[]): string[] => {
    if (path.includes(room)) {
      const cycle = [...path.slice(path.indexOf(room)), room]
      return cycle.slice(1).map((to, at) => edges.get(cycle[at] as string)?.get(to) as string)
    }
    if (done.has(room)) return []
    for (const next of edges.get(room)?.keys() ?? []) {
      const cycle = visit(next, [...path, room])
      if (cycle.length > 0) return cycle
    }
    done.add(room)
    return []
  }
  for (const room of edges.keys()) {
    const cycle = visit(room, [])
    if (cycle.length > 0) return cycle
  }
  return []
}

test('the rooms of the host import each other in one direction only', () => {
  const edges = graph()
  expect(edges.size).toBeGreaterThan(15)
  expect(cycleIn(edges)).toEqual([])
})

test('the check for cycles finds one', () => {
  const edges = new Map([
    ['a', new Map([['b', 'a imports b']])],
    ['b', new Map([['c', 'b imports c']])],
    ['c', new Map([['b', 'c imports b']])],
  ])
  expect(cycleIn(edges)).toEqual(['b imports c', 'c imports b'])
})

test('the root of the host holds four files', () => {
  expect(files.filter((file) => !file.includes(sep)).sort()).toEqual(ROOT_FILES)
})

test('the linter has a rule for every room', () => {
  const { overrides } = JSON.parse(readFileSync(join(root, 'biome.json'), 'utf8')) as { overrides: { includes: string[] }[] }
  const ruled = new Set(overrides.flatMap(({ includes }) => includes))
  const rooms = new Set(files.filter((file) => file.includes(sep)).map((file) => roomOf(file)))
  expect([...rooms].filter((room) => !ruled.has(`src/host/${room}/**`))).toEqual([])
})

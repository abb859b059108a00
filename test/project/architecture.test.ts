import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
// @ts-expect-error a plain script without types
import { root } from '../../scripts/setup.mjs'

const text = readFileSync(`${root}/ARCHITECTURE.md`, 'utf8')

test('every file and folder that ARCHITECTURE.md names exists', () => {
  const named = [...text.matchAll(/`((?:src|test|scripts|requirements|bench|examples|docs)\/[^`\s]*)`/g)].map(([, path]) => path as string)
  expect(named.length).toBeGreaterThan(30)
  for (const path of named) expect(existsSync(`${root}/${path}`), path).toBe(true)
})

test('every folder of src is described', () => {
  for (const folder of readdirSync(`${root}/src`, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name))
    expect(text).toContain(`\`src/${folder}/\``)
})

test('no time limit stands in AbortSignal.any alone: Node collects it before its time', () => {
  const files = readdirSync(`${root}/src`, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'))
  expect(files.length).toBeGreaterThan(100)
  for (const file of files)
    expect(readFileSync(`${root}/src/${file}`, 'utf8'), file).not.toMatch(/AbortSignal\.any\(\[[^\]]*AbortSignal\.timeout/)
})

test('every part of the protocol has its place: base, lifecycle, authorization, features of servers and clients, utilities [T-BASE-006]', () => {
  const places = [
    'src/jsonrpc/peer.ts',
    'src/protocol/lifecycle.ts',
    'src/auth/client/oauth.ts',
    'src/auth/server/resource-server.ts',
    'src/server/features/tools.ts',
    'src/client/answers.ts',
    ...['progress', 'logging', 'completion'].map((utility) => `src/protocol/${utility}.ts`),
  ]
  for (const path of places) expect(existsSync(`${root}/${path}`), path).toBe(true)
})

import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
// @ts-expect-error a plain script without types
import { root } from '../../scripts/setup.mjs'

/** Texts of other programs, whose sources are elsewhere. */
const FOREIGN = /Cannot find (?:module|package)|require\(\) of ES Module|Unknown file extension|^ERR_|^'/

test('every text that the page about troubleshooting quotes is a text of the sources', () => {
  const sources = readdirSync(`${root}/src`, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => readFileSync(`${root}/src/${name}`, 'utf8'))
    .join('\n')
  const rows = readFileSync(`${root}/docs/troubleshooting.md`, 'utf8').matchAll(/^\| ([^|]+) \|/gm)
  const quoted = [...rows].flatMap(([, cell = '']) => [...cell.matchAll(/`([^`]+)`/g)].map(([, text]) => text as string))
  const own = quoted.filter((text) => !FOREIGN.test(text))
  expect(own.length).toBeGreaterThan(20)
  expect(own.filter((text) => !sources.includes(text))).toEqual([])
})

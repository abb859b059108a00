/** A revision is a value: only the revisions' own folder names dates and tells newer from older. */

import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { REVISIONS } from '../../src/revisions/index.ts'

const source = fileURLToPath(new URL('../../src/', import.meta.url))

/** What may not stand in a line of the source outside the folder. */
const FORBIDDEN: [what: string, pattern: RegExp][] = [
  ['a date of a revision', new RegExp(REVISIONS.map(({ version }) => version).join('|'))],
  ['anything like such a date', /['"`]20\d\d-\d\d-\d\d['"`]/],
  ['a version compared with something', /\b(?:protocolV|v)ersion\s*(?:[=!]==?|[<>]=?)(?!=)(?!\s*(?:undefined\b|null\b|'string'|''))/],
  ['something compared with a version', /(?:[=!]==?|[<>]=|\s[<>])\s*(?:\w+\.)*(?:protocolV|v)ersion\b/],
  ['the place of a revision in their line', /REVISIONS\s*\[|REVISIONS\.(?:indexOf|findIndex)|\.indexOf\(\s*revision\b/],
]

const faultsIn = (text: string): string[] =>
  text
    .split('\n')
    .flatMap((line, i) => FORBIDDEN.filter(([, pattern]) => pattern.test(line)).map(([what]) => `${i + 1}: ${what}: ${line.trim()}`))

const files = readdirSync(source, { recursive: true, encoding: 'utf8' })
  .map((file) => file.replaceAll('\\', '/'))
  .filter((file) => file.endsWith('.ts') && !file.startsWith('revisions/'))

describe('no file outside src/revisions names a revision or compares two', () => {
  test.each(files)('no version comparison or name is in %s', (file) => {
    expect(faultsIn(readFileSync(`${source}${file}`, 'utf8'))).toEqual([])
  })

  test('all source files are checked', () => {
    expect(files.length).toBeGreaterThan(80)
    for (const folder of ['jsonrpc', 'protocol', 'server', 'client', 'stdio', 'testing'])
      expect(files.some((file) => file.startsWith(`${folder}/`))).toBe(true)
  })

  test.each([
    "if (protocolVersion === '2025-06-18') return",
    'const isOld = revision.version < other.version',
    'if (version >= minimum) return',
    'if (latest <= version) return',
    "when: 'since 2025-11-25'",
    'return REVISIONS[2]',
    'REVISIONS.indexOf(revision) > 1',
  ])('the check finds: %s', (line) => {
    expect(faultsIn(line)).not.toEqual([])
  })

  test.each([
    'const { version } = info',
    "if (typeof version !== 'string') return",
    'versions.map(({ version }) => version)',
    "const tag = { name, version: '1.0.0' }",
  ])('the check allows: %s', (line) => {
    expect(faultsIn(line)).toEqual([])
  })
})

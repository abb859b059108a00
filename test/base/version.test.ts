import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { VERSION } from '../../src/base/version.ts'

test('the version is that of package.json', async () => {
  const { version } = JSON.parse(await readFile(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string }
  expect(VERSION).toBe(version)
})

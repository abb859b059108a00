/** The program that serves a reference server, as JavaScript that a process can run. */

import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'
import { afterAll, beforeAll } from 'vitest'

/** Returns its path, which is good while tests run. */
export function builtProgram(): () => string {
  let folder = ''
  beforeAll(async () => {
    const cache = fileURLToPath(new URL('../../node_modules', import.meta.url))
    // Below the package: what it imports is looked for from there.
    folder = mkdtempSync(join(cache, '.portico-test-'))
    const bundle = await rolldown({
      input: fileURLToPath(new URL('fixtures/serve.ts', import.meta.url)),
      platform: 'node',
      external: (id) => !/^[./]/.test(id),
    })
    await bundle.write({ dir: folder, format: 'esm', entryFileNames: 'serve.mjs', chunkFileNames: '[name]-[hash].mjs' })
  }, 60_000)
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  return () => join(folder, 'serve.mjs')
}

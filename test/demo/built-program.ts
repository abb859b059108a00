/** Bundles the program that serves a demo server, so that a process can run it. */

import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'
import { afterAll, beforeAll } from 'vitest'

/** Returns a function for the path of the program. The file exists while the tests run. */
export function builtProgram(): () => string {
  let folder = ''
  beforeAll(async () => {
    const cache = fileURLToPath(new URL('../../node_modules', import.meta.url))
    // Inside the package, so that Node finds its dependencies.
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

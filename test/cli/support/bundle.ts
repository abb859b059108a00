/** A program of the tests that imports sources, made runnable. */

import { rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { afterAll } from 'vitest'

const root = fileURLToPath(new URL('../../../', import.meta.url))

/** Resolves with the path of what Node can run. @param file below test/cli/fixtures */
export async function bundled(file: string): Promise<string> {
  const outfile = `${root}.cache/test-cli/${file.replace(/\.ts$/, '')}-${process.pid}.mjs`
  await build({
    entryPoints: [`${root}test/cli/fixtures/${file}`],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
    logLevel: 'error',
  })
  afterAll(() => rmSync(outfile, { force: true }))
  return outfile
}

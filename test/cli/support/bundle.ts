/** A program of the tests that imports sources, made runnable. */

import { readFileSync, rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { build, type Plugin } from 'esbuild'
import { afterAll } from 'vitest'

const root = fileURLToPath(new URL('../../../', import.meta.url))

/** The sources with a shorter quiet time of questions, for tests of something else. The product has no setting for it. */
const shortQuiet = (ms: number): Plugin => ({
  name: 'short quiet time',
  setup: ({ onLoad }) => {
    onLoad({ filter: /[\\/]terminal[\\/]key-filter\.ts$/ }, ({ path }) => {
      const source = readFileSync(path, 'utf8')
      const constant = /^export const QUIET_MS = \d+$/m
      if (!constant.test(source)) throw new Error(`${path} does not define QUIET_MS as a number`)
      return { contents: source.replace(constant, `export const QUIET_MS = ${ms}`), loader: 'ts' }
    })
  },
})

/** Resolves with the path of what Node can run. @param file below test/cli/fixtures @param quietMs Default: as in the product */
export async function bundled(file: string, quietMs?: number): Promise<string> {
  const outfile = `${root}.cache/test-cli/${file.replace(/\.ts$/, '')}-${quietMs ?? 'as-is'}-${process.pid}.mjs`
  await build({
    entryPoints: [`${root}test/cli/fixtures/${file}`],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
    logLevel: 'error',
    plugins: quietMs === undefined ? [] : [shortQuiet(quietMs)],
  })
  afterAll(() => rmSync(outfile, { force: true }))
  return outfile
}

/** A project with the packed library and the programs of the tests. */

import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
// @ts-expect-error a plain script without types
import { root } from '../../../scripts/setup.mjs'

export function packInto(folder: string): void {
  const packed = must('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', folder], root)
  const [{ filename }] = JSON.parse(packed)
  const library = join(folder, 'node_modules/portico')
  mkdirSync(library, { recursive: true })
  must('tar', ['-xzf', join(folder, filename), '-C', library, '--strip-components=1'], folder)
  const { dependencies } = JSON.parse(readFileSync(join(library, 'package.json'), 'utf8'))
  for (const name of [...Object.keys(dependencies), 'zod']) {
    const link = join(folder, 'node_modules', name)
    mkdirSync(dirname(link), { recursive: true })
    symlinkSync(join(root, 'node_modules', name), link, 'junction')
  }
  cpSync(fileURLToPath(new URL('../fixtures', import.meta.url)), folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), '{"private":true,"type":"module"}')
}

/** The output of a command. Throws with all output if it fails. */
export function must(command: string, args: readonly string[], cwd: string): string {
  // wrangler would otherwise wait for servers on the internet.
  const env = { ...process.env, WRANGLER_SEND_METRICS: 'false', WRANGLER_HIDE_BANNER: 'true' }
  const { status, stdout, stderr, error } = spawnSync(command, [...args], { cwd, encoding: 'utf8', timeout: 120_000, env })
  if (status !== 0) throw new Error(`${[command, ...args].join(' ')} failed: ${error?.message ?? ''}\n${stdout}\n${stderr}`)
  return stdout
}

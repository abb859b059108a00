/** A module of the sources as one file of JavaScript, for processes that a test starts. */

import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** By its URL, or its path in the project. What it needs is in it, except for what is optional. */
export async function bundled(source: URL | string, folder: string): Promise<string> {
  const input = typeof source === 'string' ? join(ROOT, source) : fileURLToPath(source)
  const bundle = await rolldown({ input, platform: 'node', external: [/^node:/, '@napi-rs/keyring'] })
  const file = join(folder, 'bundled.mjs')
  await bundle.write({ file, format: 'esm', codeSplitting: false })
  await bundle.close()
  return file
}

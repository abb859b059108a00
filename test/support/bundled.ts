/** A program in TypeScript as one file of JavaScript, for tests that start it as a process of its own. */

import { join } from 'node:path'
import { rolldown } from 'rolldown'

/** Everything but the modules of Node is in the file, so it runs from any folder. */
export async function bundled(program: URL, folder: string): Promise<string> {
  const file = join(folder, 'program.mjs')
  const bundle = await rolldown({ input: program.pathname, platform: 'node' })
  await bundle.write({ file, format: 'esm', codeSplitting: false })
  return file
}

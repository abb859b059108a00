/** A folder of an author: packages are linked in from this repository. */

import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../../', import.meta.url))

/** @param packages `portico` is the built repository itself */
export function project(
  folder: string,
  files: Readonly<Record<string, string>>,
  packages: readonly string[] = ['portico', 'zod', 'tsx'],
): string {
  mkdirSync(join(folder, 'node_modules'), { recursive: true })
  for (const name of packages) symlinkSync(name === 'portico' ? root : join(root, 'node_modules', name), join(folder, 'node_modules', name))
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  return folder
}

export const GREETER = `import { createServer, type Server } from 'portico/server'
import { z } from 'zod'
import { greeting } from './words.ts'

export const server: Server = createServer({ name: 'greeter', version: '1.0.0' })
server.tool('greet', { description: 'Says hello', input: z.object({ name: z.string() }) }, ({ name }) => \`\${greeting} \${name}\`)
`

export const words = (greeting: string): string => `export const greeting: string = '${greeting}'\n`

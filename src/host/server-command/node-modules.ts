/** Resolves Node modules, and the programs of installed packages. */

import { createRequire } from 'node:module'
import { dirname, isAbsolute, join, resolve } from 'node:path'
import { isObject } from '../../base/json.ts'
import { readPlainFile } from '../../files/plain-file.ts'

/** The main file of a folder, as in `node .`. */
export const mainFile = (path: string): string | undefined => moduleFile(path, path)

/** The file of a module, as node resolves it from a folder. Undefined: a built-in module, or not found. */
export function moduleFile(folder: string, name: string): string | undefined {
  try {
    const file = createRequire(join(folder, 'any')).resolve(name)
    return isAbsolute(file) ? file : undefined
  } catch {
    return undefined
  }
}

/** The package.json of a folder and the programs it declares. */
export async function binFiles(folder: string, maxBytes: number): Promise<string[]> {
  const file = join(folder, 'package.json')
  try {
    const found: unknown = JSON.parse((await readPlainFile(file, maxBytes)).toString('utf8'))
    const bin = isObject(found) ? found.bin : undefined
    const paths = typeof bin === 'string' ? [bin] : isObject(bin) ? Object.values(bin) : []
    return [file, ...paths.filter((path) => typeof path === 'string').map((path) => resolve(dirname(file), path))]
  } catch {
    return []
  }
}

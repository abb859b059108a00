/** The source files below the paths that the person gave. */

import { readdir, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { UsageError } from '../errors.ts'

const SOURCE = /\.[cm]?[jt]sx?$/
const SKIPPED = ['node_modules', 'dist', 'build', 'coverage']
const MAX_FILES = 10_000

/** Folders are searched without `node_modules`, output folders and hidden ones. Links are not followed. */
export async function sourceFiles(folder: string, paths: readonly string[]): Promise<string[]> {
  const files = new Set<string>()
  for (const path of paths) {
    const whole = resolve(folder, path)
    const found = await stat(whole).catch(() => undefined)
    if (!found) throw new UsageError(`There is no ${path}`)
    if (found.isDirectory()) await search(whole, files)
    else files.add(whole)
  }
  return [...files].sort()
}

async function search(folder: string, files: Set<string>): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (entry.name.startsWith('.') || SKIPPED.includes(entry.name)) continue
    const path = join(folder, entry.name)
    if (entry.isDirectory()) await search(path, files)
    else if (entry.isFile() && SOURCE.test(entry.name) && !entry.name.includes('.d.')) files.add(path)
    if (files.size > MAX_FILES) throw new UsageError(`More than ${MAX_FILES} source files`, 'Give the folders to migrate')
  }
}

/** Finds and reads the files of tasks in a folder: one folder per owner, one file per task. */

import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { codeOf, kept } from '../../files/private-file.ts'
import { readHead, type TaskFileHead } from './task-file.ts'

/** How many files to read at the same time. */
const READERS = 16

/** The files of all tasks in the folder of a store. */
export async function allTasks(folder: string): Promise<string[]> {
  const owners = (await namesIn(folder)).filter((name) => /^[0-9a-f]{32}$/.test(name))
  return (await Promise.all(owners.map((name) => tasksIn(join(folder, name))))).flat()
}

/** The files of the tasks of one owner. */
export const tasksIn = async (folder: string): Promise<string[]> =>
  (await namesIn(folder)).filter((name) => name.endsWith('.json')).map((name) => join(folder, name))

/** The names in a folder. None if it does not exist. */
export async function namesIn(folder: string): Promise<string[]> {
  return kept(folder, async () => {
    try {
      return await readdir(folder)
    } catch (error) {
      if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return []
      throw error
    }
  })
}

/** The heads in files. A damaged file is left out here; reading its task reports it. */
export async function headsOf(files: readonly string[]): Promise<TaskFileHead[]> {
  const heads: (TaskFileHead | undefined)[] = []
  await forEachFile(files, async (file) => void heads.push(await readHead(file).catch(() => undefined)))
  return heads.filter((head) => head !== undefined)
}

/** Calls `act` for all files, a few at a time. */
export async function forEachFile(files: readonly string[], act: (file: string) => Promise<void>): Promise<void> {
  const rest = files.values()
  const work = async (): Promise<void> => {
    for (const file of rest) await act(file)
  }
  await Promise.all(Array.from({ length: READERS }, work))
}

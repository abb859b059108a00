/** Paths of the host's files. */

import { join, resolve } from 'node:path'
import { hostFolder, STORAGE_PATHS } from '../../host/index.ts'
import type { Io } from '../io.ts'

/** PORTICO_HOME. Default: the state folder of the user. */
export const hostFolderOf = ({ env }: Pick<Io, 'env'>): string => hostFolder(env.PORTICO_HOME)

export const storagePath = (io: Pick<Io, 'env'>, what: keyof typeof STORAGE_PATHS): string => join(hostFolderOf(io), STORAGE_PATHS[what])

/**
 * The user's rules, and those of the working folder, which can only be stricter. A host folder that is the folder `.portico` of the project
 * has one file, and its rules are the user's.
 */
export function policyFiles(io: Pick<Io, 'env' | 'cwd'>): { user: string; project?: string } {
  const user = storagePath(io, 'policy')
  const project = join(io.cwd, '.portico', STORAGE_PATHS.policy)
  return resolve(io.cwd, user) === project ? { user } : { user, project }
}

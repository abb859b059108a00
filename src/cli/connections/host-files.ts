/** Paths of the host's files. */

import { join } from 'node:path'
import { hostFolder, STORAGE_PATHS } from '../../host/index.ts'
import type { Io } from '../io.ts'

/** PORTICO_HOME. Default: the state folder of the user. */
export const hostFolderOf = ({ env }: Pick<Io, 'env'>): string => hostFolder(env.PORTICO_HOME)

export const storagePath = (io: Pick<Io, 'env'>, what: keyof typeof STORAGE_PATHS): string => join(hostFolderOf(io), STORAGE_PATHS[what])

/** The user's rules, and those of the working folder, which can only be stricter. */
export const policyFiles = (io: Pick<Io, 'env' | 'cwd'>): { user: string; project: string } => ({
  user: storagePath(io, 'policy'),
  project: join(io.cwd, '.portico', STORAGE_PATHS.policy),
})

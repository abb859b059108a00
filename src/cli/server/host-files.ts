/** Where the host of this person keeps things, as the command line finds them. */

import { join } from 'node:path'
import { hostFolder, STORAGE_PATHS } from '../../host/index.ts'
import type { Io } from '../io.ts'

/** PORTICO_HOME, or the folder that the system wants. */
export const hostFolderOf = ({ env }: Pick<Io, 'env'>): string => hostFolder(env.PORTICO_HOME)

export const storagePath = (io: Pick<Io, 'env'>, what: keyof typeof STORAGE_PATHS): string => join(hostFolderOf(io), STORAGE_PATHS[what])

/** The rules of the person, and those of the folder they work in, which can only be stricter. */
export const policyFiles = (io: Pick<Io, 'env' | 'cwd'>): { user: string; project: string } => ({
  user: storagePath(io, 'policy'),
  project: join(io.cwd, '.portico', STORAGE_PATHS.policy),
})

/** Where the host of this person keeps things, as the command line finds them. */

import { join } from 'node:path'
import { hostFolder, KEPT } from '../../host/services/storage.ts'
import type { Io } from '../io.ts'

/** PORTICO_HOME, or the folder that the system wants. */
export const folderOf = ({ env }: Pick<Io, 'env'>): string => hostFolder(env.PORTICO_HOME)

export const keptIn = (io: Pick<Io, 'env'>, what: keyof typeof KEPT): string => join(folderOf(io), KEPT[what])

/** The rules of the person, and those of the folder they work in, which can only be stricter. */
export const policyFiles = (io: Pick<Io, 'env' | 'cwd'>): { user: string; project: string } => ({
  user: keptIn(io, 'policy'),
  project: join(io.cwd, '.portico', KEPT.policy),
})

/** Files on this machine: read, write, edit, search and watch, within given folders and nowhere else. */

import { McpError } from '../../protocol/errors.ts'
import { withDefaults } from '../../protocol/with-defaults.ts'
import { createServer, type Server, type ServerOptions } from '../../server/index.ts'
import { Area } from './area.ts'
import { operatorFolders } from './enclosure.ts'
import { DEFAULT_FILES_LIMITS, type FilesLimits } from './limits.ts'
import { addReadingTools } from './reading-tools.ts'
import { addResources, Listed, uriOf } from './resources.ts'
import { Watches } from './watches.ts'
import { addWritingTools } from './writing-tools.ts'

export interface FilesOptions {
  /** The folders that may be used. A client that gives roots can use what lies in both. */
  folders?: readonly string[]
  /**
   * Without folders, lets the roots of the client be what it can use: for a server that was started by its only client, as
   * over stdio. Anybody else would choose what of this machine to look at.
   */
  rootsAlone?: boolean
  /** Offers no tool that changes anything. */
  isReadOnly?: boolean
  /** Also opens files with several hard links, as package managers create. Another link may be outside the folders. */
  allowHardLinks?: boolean
  limits?: Partial<FilesLimits>
  server?: Partial<ServerOptions>
}

/** Rejects with ERR_CONFIG if no folder is given, or if one is not a folder. */
export async function filesServer(options: FilesOptions): Promise<Server> {
  const operator = await operatorFolders(options.folders ?? [])
  if (operator.length === 0 && !options.rootsAlone)
    throw new McpError('ERR_CONFIG', 'A files server needs folders, or rootsAlone to use whatever folders its only client gives it')
  const area = new Area(operator, withDefaults(DEFAULT_FILES_LIMITS, options.limits), { allowHardLinks: options.allowHardLinks ?? false })
  const server = createServer({
    name: 'files',
    version: '1.0.0',
    title: 'Files',
    instructions:
      'Files within the folders that were given. Read a file before changing it, and give its hash, so that no change of somebody else is lost. Links are not followed.',
    ...options.server,
  })
  const listed = new Listed(server, area)
  const top = new Set(operator.map(({ real }) => uriOf(real)))
  const watches = new Watches(area, (uri) => {
    if (top.has(uri)) void listed.refresh()
    server.resourceChanged(uri)
  })
  addReadingTools(server, area)
  if (!options.isReadOnly) addWritingTools(server, area)
  addResources(server, area, watches)
  await listed.refresh()
  for (const uri of top) await watches.add(uri)
  return {
    ...server,
    close: async () => {
      watches.close()
      await server.close()
    },
  }
}

/** A server for files on this machine: reads, writes, edits, searches and watches them, only within allowed folders. */

import { McpError } from '../../protocol/errors.ts'
import { withDefaults } from '../../protocol/with-defaults.ts'
import { createServer, type Server, type ServerOptions } from '../../server/index.ts'
import { Area } from './area.ts'
import { operatorFolders } from './enclosure.ts'
import { DEFAULT_FILES_LIMITS, type FilesLimits } from './limits.ts'
import { addReadingTools } from './reading-tools.ts'
import { addResources, ResourceList, uriOf } from './resources.ts'
import { Watches } from './watches.ts'
import { addWritingTools } from './writing-tools.ts'

export interface FilesOptions {
  /** The allowed folders. A client with roots can use only the intersection of both. */
  folders?: readonly string[]
  /**
   * Without `folders`, allows the roots of the client. Use it only for a server that was started by its only client, as over
   * stdio: any other client could choose any folder of this machine. Default: false.
   */
  rootsAlone?: boolean
  /** Leaves out the tools that change files. Default: false. */
  isReadOnly?: boolean
  /** Also opens files with several hard links, as package managers create. Another link may be outside the folders. Default: false. */
  allowHardLinks?: boolean
  limits?: Partial<FilesLimits>
  server?: Partial<ServerOptions>
}

/** Rejects with ERR_CONFIG if no folder is given, or if one is not a folder. */
export async function filesServer(options: FilesOptions): Promise<Server> {
  const operator = await operatorFolders(options.folders ?? [])
  if (operator.length === 0 && !options.rootsAlone)
    throw new McpError('ERR_CONFIG', 'A files server needs `folders`, or `rootsAlone` to use the roots of its only client')
  const area = new Area(operator, withDefaults(DEFAULT_FILES_LIMITS, options.limits), { allowHardLinks: options.allowHardLinks ?? false })
  const server = createServer({
    name: 'files',
    version: '1.0.0',
    title: 'Files',
    instructions:
      'Files in the allowed folders. Read a file before you change it, and pass its hash, so that no other change is lost. Links are not followed.',
    ...options.server,
  })
  const listed = new ResourceList(server, area)
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

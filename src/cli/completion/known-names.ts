/** Names for completion from files on this machine: the configured servers, and the approved definitions of each. */

import { openPins, openTasks, serverFile } from '../../host/index.ts'
import { hostFolderOf, storagePath } from '../connections/host-files.ts'
import type { Io } from '../io.ts'
import type { KnownNames } from './candidates.ts'

/** The shell waits for this at every Tab, so unreadable files just offer nothing. @param bundled the servers of `portico serve` */
export function knownNames(io: Io, bundled: readonly string[]): KnownNames {
  const approved = (kind: string) => async (server: string) => {
    const pins = await openPins({ file: storagePath(io, 'pins') }).catch(() => undefined)
    const items = pins?.list().find((each) => each.server === server)?.items ?? []
    return items.flatMap((item) => (item.kind === kind ? [item.name] : []))
  }
  return {
    bundled: () => bundled,
    servers: async () => {
      const read = await serverFile(hostFolderOf(io))
        .list()
        .catch(() => undefined)
      return read?.servers.map(({ id }) => id) ?? []
    },
    tools: approved('tool'),
    prompts: approved('prompt'),
    resources: approved('resource'),
    skills: async (server) => (await approved('skill')(server)).map((uri) => uri.replace(/^[^:]+:\/\//, '').replace(/\/SKILL\.md$/, '')),
    tasks: async () => {
      const records = await openTasks({ folder: storagePath(io, 'tasks') })
        .list()
        .catch(() => [])
      return records.map(({ id }) => id)
    },
  }
}

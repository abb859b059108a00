/** Names for completion, from what is kept on this machine: the list of servers, and what was approved of each. */

import type { Io } from '../io.ts'
import type { KnownNames } from './candidates.ts'

/** A shell waits for this at every Tab: what cannot be read offers nothing. */
export function knownNames(io: Io): KnownNames {
  const approved = (kind: string) => async (server: string) => {
    const [{ openPins }, { keptIn }] = await Promise.all([import('../../host/approval/pin-store.ts'), import('../hosting/host-files.ts')])
    const pins = await openPins({ file: keptIn(io, 'pins') }).catch(() => undefined)
    const items = pins?.list().find((each) => each.server === server)?.items ?? []
    return items.flatMap((item) => (item.kind === kind ? [item.name] : []))
  }
  return {
    servers: async () => {
      const [{ serverFile }, { folderOf }] = await Promise.all([
        import('../../host/config/server-file.ts'),
        import('../hosting/host-files.ts'),
      ])
      const read = await serverFile(folderOf(io))
        .list()
        .catch(() => undefined)
      return read?.servers.map(({ id }) => id) ?? []
    },
    tools: approved('tool'),
    prompts: approved('prompt'),
    resources: approved('resource'),
  }
}

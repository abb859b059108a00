/** A console with its built page over a real host in this process, and the servers that a test needs. It ends with its test. */

import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import { type Console, type ConsoleOptions, consoleAsker, consoleFeed, createConsole } from '../../../src/console/index.ts'
import { createHost, type HostOptions, type ServerSpec } from '../../../src/host/index.ts'
import { temporaryFolders } from '../../support/folders.ts'

/** The page that `npm run build` made. The set-up of the tests builds it if it is stale. */
const ASSETS = fileURLToPath(new URL('../../../dist/console/page', import.meta.url))

export interface World {
  console: Console
  host: Awaited<ReturnType<typeof createHost>>
  feed: ReturnType<typeof consoleFeed>
  folder: string
}

export function worlds(): (options: { host?: HostOptions; console?: ConsoleOptions }) => Promise<World> {
  const folders = temporaryFolders()
  return async (options) => {
    const [asker, feed, folder] = [consoleAsker(), consoleFeed(), folders()]
    const host = await createHost({
      folder,
      keychain: false,
      ask: asker,
      onEvent: feed.onEvent,
      onTraffic: feed.onTraffic,
      ...options.host,
    })
    const console = await createConsole(host, {
      asker,
      feed,
      assets: ASSETS,
      imports: { home: folder, project: folder },
      ...options.console,
    })
    onTestFinished(async () => {
      await console.close()
      await host.close()
    })
    return { console, host, feed, folder }
  }
}

type Service = Extract<ServerSpec['transport'], { type: 'memory' }>['service']

/** A server in this process. */
export const inMemory = (service: Service, spec: Partial<Omit<ServerSpec, 'id' | 'transport'>> = {}): Omit<ServerSpec, 'id'> => ({
  transport: { type: 'memory', service },
  tier: 'trusted',
  provenance: [],
  labels: [],
  ...spec,
})

/** Applies changes of the list of servers that other processes make while a host runs. */

import { unwatchFile, watchFile } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import { serverFile } from '../config/server-file.ts'
import type { ServerSpec } from '../model/server-spec.ts'

/** The file is looked at this often. Watching would be quicker, but misses changes on network drives. */
const LOOK_MS = 500

/** The part of a host that this uses. */
export interface FollowingHost {
  readonly folder: string
  specs(): ServerSpec[]
  configure(specs: readonly ServerSpec[]): Promise<void>
}

export interface FollowOptions {
  /** Servers that come back when the list no longer has a server of their name. Default: none. */
  others?(): readonly ServerSpec[]
  /** Called if the file cannot be read, once for the same reason. The servers stay as they were. */
  onWarning?(text: string): void
}

export interface FollowedServerFile {
  /** Applies changes now, not at the next look. */
  refresh(): Promise<void>
  /** Ends it. Servers stay as they are. */
  close(): void
}

/**
 * Adds, changes and removes servers of a running host when `servers.json` in its folder changes: `portico servers` in another terminal, or
 * an editor. Only what changed in the file changes in the host, so servers that the file never had stay.
 *
 * @example
 * const followed = await followServerFile(host)
 */
export async function followServerFile(host: FollowingHost, options: FollowOptions = {}): Promise<FollowedServerFile> {
  const { others = () => [], onWarning = () => {} } = options
  const list = serverFile(host.folder)
  let seen = new Map<string, ServerSpec>()
  let lastWarning: string | undefined
  let isFollowing = false

  const read = async (): Promise<Map<string, ServerSpec> | undefined> => {
    try {
      const { servers, problems } = await list.list()
      warn(problems.map(({ where, text }) => `${list.file}, ${where}: ${text}`).join('; ') || undefined)
      return new Map(servers.map((spec) => [spec.id, spec]))
    } catch (error) {
      warn((error as Error).message)
      return undefined
    }
  }
  const warn = (text: string | undefined): void => {
    // At the start the reader of the configuration has said it.
    if (isFollowing && text !== undefined && text !== lastWarning) onWarning(text)
    lastWarning = text
  }
  const apply = async (): Promise<void> => {
    const now = await read()
    if (!now || !isFollowing) return
    const changed = [...now.values()].filter((spec) => !isDeepStrictEqual(seen.get(spec.id), spec))
    const gone = [...seen.keys()].filter((id) => !now.has(id))
    seen = now
    if (changed.length === 0 && gone.length === 0) return
    const replaced = new Set([...gone, ...changed.map(({ id }) => id)])
    const kept = host.specs().filter(({ id }) => !replaced.has(id))
    const back = others().filter(({ id }) => gone.includes(id))
    await host.configure([...kept, ...back, ...changed])
  }
  let last: Promise<void> = Promise.resolve()
  const refresh = (): Promise<void> => {
    last = last.then(apply).catch((error: unknown) => warn((error as Error).message))
    return last
  }
  const look = (): void => void refresh()

  // The host may have been created with a part of the list, so that only later changes count.
  seen = (await read()) ?? seen
  isFollowing = true
  watchFile(list.file, { interval: LOOK_MS, persistent: false }, look)
  return {
    refresh,
    close: () => {
      isFollowing = false
      unwatchFile(list.file, look)
    },
  }
}

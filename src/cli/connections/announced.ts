/** Remembers which servers a line already called enabled, so that it is not said twice. */

import type { Host } from '../../host/index.ts'

const announcedBy = new WeakMap<Host, Set<string>>()

/** @param servers the servers that a line was printed about; events add to it */
export const rememberAnnounced = (host: Host, servers: Set<string>): void => void announcedBy.set(host, servers)

/** Whether a line said that the server is enabled, since the last call. */
export const takeAnnounced = (host: Host, server: string): boolean => announcedBy.get(host)?.delete(server) ?? false

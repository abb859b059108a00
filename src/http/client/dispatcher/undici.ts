/** Sends requests with undici: one pool of connections for each origin. Only for Node. */

import { Pool } from 'undici'
import { MAX_HEADER_BYTES } from '../errors.ts'
import type { Dispatcher, DispatcherSettings } from '../http-request.ts'

export const openDispatcher = ({ origin, connections, connectTimeoutMs, tls }: DispatcherSettings): Dispatcher =>
  new Pool(origin, {
    connections,
    // The callers set the time limits of their requests. Only the time to connect is the pool's.
    headersTimeout: 0,
    bodyTimeout: 0,
    maxHeaderSize: MAX_HEADER_BYTES,
    connect: { ...tls, timeout: connectTimeoutMs },
  })

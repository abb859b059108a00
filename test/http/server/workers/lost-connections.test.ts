/** Connections that were handed to a worker that ended, before Node has heard of its end. */

import type { Worker } from 'node:cluster'
import { EventEmitter } from 'node:events'
import { expect, test, vi } from 'vitest'
import { closeLostConnections } from '../../../../src/http/server/workers/lost-connections.ts'

test.each(['before the exit', 'between the exit and the disconnection'])('a connection that is handed over %s is closed', (when) => {
  const process = Object.assign(new EventEmitter(), { send: (..._message: unknown[]) => true })
  closeLostConnections({ process } as unknown as Worker)
  const close = vi.fn()
  const handOver = (): boolean => process.send({ cmd: 'NODE_CLUSTER', act: 'newconn', seq: 1 }, { close })
  if (when === 'before the exit') handOver()
  process.emit('exit', null, 'SIGKILL')
  if (when !== 'before the exit') handOver()
  process.emit('disconnect')
  expect(close).toHaveBeenCalledTimes(1)
})

/** `listen` with workers: the process that was started runs them, and each of them serves. */

import cluster from 'node:cluster'
import { availableParallelism } from 'node:os'
import { WORKER_NUMBER } from '../../../base/worker-number.ts'
import { McpError } from '../../../protocol/errors.ts'
import type { Service } from '../../../protocol/interfaces/service.ts'
import type { Listening, ListenOptions } from '../listen-options.ts'

let isUsed = false

/** @param serveHere serves in this process */
export async function listenWithWorkers(
  service: Service,
  options: ListenOptions,
  serveHere: (options: ListenOptions) => Promise<Listening>,
): Promise<Listening> {
  const count = options.workers === 'auto' ? availableParallelism() : Number(options.workers)
  // Each worker runs the whole program, so a second call would start workers of workers.
  if (isUsed) throw new McpError('ERR_DEFINITION', 'Only one listen() of a program can have workers')
  if (cluster.isWorker) {
    if (process.env[WORKER_NUMBER] === undefined) {
      throw new McpError(
        'ERR_DEFINITION',
        'This process is a worker of another program, such as pm2, which distributes the connections: leave out workers',
      )
    }
    isUsed = true
    const { serveAsWorker } = await import('./worker.ts')
    return serveAsWorker(service, options, serveHere)
  }
  if (process.argv[1] === undefined) {
    throw new McpError('ERR_DEFINITION', 'workers needs a program in a file, because each worker runs it: node server.mjs')
  }
  const { Primary } = await import('./primary.ts')
  const primary = new Primary(service, options, count)
  isUsed = true
  try {
    return await primary.start()
  } catch (error) {
    isUsed = false
    throw error
  }
}

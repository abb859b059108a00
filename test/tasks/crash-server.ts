/** A server on standard streams whose tasks are in the folder of its first argument. Tests kill it. */

import { appendFileSync } from 'node:fs'
import { createServer } from '../../src/server/index.ts'
import { serveStdio } from '../../src/stdio/index.ts'
import { fileTaskStore, tasks } from '../../src/tasks/index.ts'

const [folder = '', log = ''] = process.argv.slice(2)
const server = createServer({ name: 'crash', version: '1' })
server.extend(tasks({ store: fileTaskStore(folder) }))

const forever = (signal: AbortSignal): Promise<never> =>
  new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)))

server.tool('forever', { task: 'required' }, (_args, ctx) => forever(ctx.signal))
server.tool('quick', { task: 'required' }, () => 'quick')

server.tool('steps', { task: 'required', restartable: true }, async (_args, ctx) => {
  await ctx.once('first', () => appendFileSync(log, 'first\n'))
  const { name } = await ctx.elicit('name', 'Name?', {
    type: 'object',
    properties: { name: { type: 'string' } },
    required: ['name'],
  } as const)
  await ctx.once('second', () => appendFileSync(log, 'second\n'))
  const { go } = await ctx.elicit('go', 'Go on?', { type: 'object', properties: { go: { type: 'boolean' } }, required: ['go'] } as const)
  return `${name} ${String(go)} ${ctx.callId}`
})

server.tool('fatal', { task: 'required', restartable: true }, (_args, ctx) => {
  appendFileSync(log, 'run\n')
  // Later, so that the client has the id of the task.
  setTimeout(() => process.kill(process.pid, 'SIGKILL'), 100)
  return forever(ctx.signal)
})

serveStdio(server)

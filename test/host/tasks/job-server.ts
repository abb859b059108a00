/** A server on standard streams whose tasks are in a folder. */

import { appendFileSync, existsSync, writeFileSync } from 'node:fs'
import { createServer } from '../../../src/server/index.ts'
import { serveStdio } from '../../../src/stdio/index.ts'
import { fileTaskStore, tasks } from '../../../src/tasks/index.ts'

const { FOLDER: folder = '', LOG: log = '', GO: go = '' } = process.env
const server = createServer({ name: 'jobs', version: '1' })
server.extend(tasks({ store: fileTaskStore(folder), pollIntervalMs: 50, leaseMs: 1_500 }))

const YES = { type: 'object', properties: { go: { type: 'boolean' } }, required: ['go'] } as const

/** Ends when the file GO exists. */
server.tool('build', { task: 'required', restartable: true }, async (_args, ctx) => {
  await ctx.once('begun', () => appendFileSync(log, 'begun\n'))
  // The step is stored now.
  writeFileSync(`${log}.stored`, '')
  while (!existsSync(go)) {
    ctx.signal.throwIfAborted()
    await new Promise((resolve) => setTimeout(resolve, 25))
  }
  await ctx.once('built', () => appendFileSync(log, 'built\n'))
  return 'built'
})
server.tool('ask', { task: 'required', restartable: true }, async (_args, ctx) => {
  const answer = await ctx.elicit('go', 'Go on?', YES)
  return `answer ${String(answer.go)}`
})
server.tool('fragile', { task: 'required' }, (_args, ctx) => {
  return new Promise<string>((_resolve, reject) => ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason as Error)))
})

serveStdio(server)

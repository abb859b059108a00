/** A host in a process of its own, which starts a task and tells its id. Tests kill it. */

import { createHost } from '../../../src/host/index.ts'

const [folder = '', program = '', env = '{}', tool = 'build'] = process.argv.slice(2)
const host = await createHost({
  folder,
  keychain: false,
  project: folder,
  servers: {
    jobs: {
      tier: 'trusted',
      provenance: [],
      transport: { type: 'stdio', command: process.execPath, args: [program], env: JSON.parse(env) },
    },
  },
  ask: {
    // A question of a task waits until the process is killed.
    ask: ({ subject }) =>
      subject.kind === 'form' ? new Promise(() => {}) : Promise.resolve({ kind: 'allow', scope: 'always', width: 'any' }),
  },
})
await host.enable('jobs')
const { id } = await host.callTask({ server: 'jobs', name: tool }, {}, { as: 'person' })
process.stdout.write(`${JSON.stringify({ id })}\n`)
setInterval(() => {}, 1_000)

/**
 * npm run bench streams: holds 10,000 sessions with an open stream for a while and sends notifications to all of them. Prints the memory
 * of each session and the number of lost notifications.
 */

import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { Connection, dialects, startHttp } from './http-load.mjs'

const here = fileURLToPath(new URL('.', import.meta.url))
const COUNT = Number(process.env.BENCH_STREAMS ?? 10_000)
const TELLINGS = 5
const BETWEEN_MS = 2000
const AT_ONCE = 100
const MAX_KB = 40

const rssOf = (pid) => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1])

const server = await startHttp(`${here}contestants/portico/http-server.mjs`, [], ['--expose-gc'])
const lines = []
let heard = 0
async function open() {
  const connection = new Connection(server.url)
  const headers = (await dialects.session(connection))()
  const { status } = await connection.get(headers)
  if (status !== 200) throw new Error(`A stream was answered with ${status}`)
  connection.onData = (text) => {
    heard += text.split('notifications/tools/list_changed').length - 1
  }
  lines.push(connection)
}

await Promise.all(Array.from({ length: AT_ONCE }, open))
const before = rssOf(server.pid)
const start = performance.now()
while (lines.length < COUNT) await Promise.all(Array.from({ length: Math.min(AT_ONCE, COUNT - lines.length) }, open))
const openedIn = (performance.now() - start) / 1000
for (let i = 0; i < TELLINGS; i++) {
  server.child.send('change')
  await new Promise((resolve) => setTimeout(resolve, BETWEEN_MS))
}
const each = (rssOf(server.pid) - before) / (COUNT - AT_ONCE)
const lost = COUNT * TELLINGS - heard
console.log(
  `${COUNT} sessions with an open stream: opened in ${openedIn.toFixed(1)} s, ${each.toFixed(1)} KB of memory each (goal ${MAX_KB}), ` +
    `${heard} notifications received, ${lost} lost`,
)
await server.stop()
process.exit(lost === 0 && each <= MAX_KB ? 0 : 1)

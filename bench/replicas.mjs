/** Measures what a shared store costs: processor time and latency of a call, memory of Redis, and throughput with several replicas. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { loadavg } from 'node:os'
import { fileURLToPath } from 'node:url'
import { cpuOf, median } from './cpu.mjs'
import { Connection, dialects, loadHttp, startHttp } from './http-load.mjs'

const script = fileURLToPath(new URL('contestants/portico/http-server.mjs', import.meta.url))
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 5)
const SESSIONS = 10_000

export async function printReplicas() {
  const redis = await startRedis()
  try {
    console.log(`\nSessions of several replicas with Redis (load average ${loadavg()[0].toFixed(1)}, medians of ${ROUNDS} rounds)`)
    await printCosts(redis)
    await printMemory(redis)
    await printThroughput(redis)
  } finally {
    redis.child.kill('SIGKILL')
  }
}

async function startRedis() {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address()
  probe.close()
  await once(probe, 'close')
  const child = spawn('redis-server', ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await new Promise((resolve, reject) => {
    child.once('error', () => reject(new Error('The measure of replicas needs redis-server: apt-get install redis-server')))
    child.stdout.on('data', (text) => /Ready to accept connections/.test(text) && resolve())
  })
  return { child, pid: child.pid, url: `redis://127.0.0.1:${port}`, port }
}

async function printCosts(redis) {
  const kinds = {
    'call, JSON': { connections: 16, calls: 5000, warmUp: 2000 },
    'call, one at a time': { connections: 1, calls: 2000, warmUp: 1000 },
    'call, stream': { connections: 16, calls: 3000, warmUp: 1000, args: ['--sse'] },
  }
  for (const [name, options] of Object.entries(kinds)) {
    const rounds = { without: [], with: [] }
    for (let round = 0; round < ROUNDS; round++) {
      rounds.without.push(await loadHttp(script, options))
      const before = cpuOf(redis.pid)
      const args = [...(options.args ?? []), `--store=${redis.url}`]
      const result = await loadHttp(script, { ...options, args })
      const redisCpu = (cpuOf(redis.pid) - before) / (options.calls + options.warmUp)
      rounds.with.push({ ...result, redisCpu })
    }
    for (const [kind, results] of Object.entries(rounds)) {
      const of = (key) => median(results.map((result) => result[key])).toFixed(0)
      const inRedis = kind === 'with' ? `, ${of('redisCpu')} us in Redis` : ''
      console.log(`  ${name}, ${kind} store: ${of('cpu')} us of processor time${inRedis}; latency p50 ${of('p50')} us, p99 ${of('p99')} us`)
    }
  }
}

async function printMemory(redis) {
  const server = await startHttp(script, [`--store=${redis.url}`, '--prefix=memory:'])
  const connection = new Connection(server.url)
  await dialects.session(connection)
  const before = await usedMemory(redis)
  for (let n = 0; n < SESSIONS; n++) await dialects.session(connection)
  const bytes = ((await usedMemory(redis)) - before) / SESSIONS
  connection.close()
  await server.stop()
  console.log(`  an idle session: ${bytes.toFixed(0)} bytes of Redis, ${Math.floor(1024 ** 2 / bytes)} sessions in a megabyte`)
}

/** Without a client library: the command and the answer are text. */
async function usedMemory({ port }) {
  const { connect } = await import('node:net')
  const socket = connect(port, '127.0.0.1').setEncoding('utf8')
  socket.end('INFO memory\r\n')
  let text = ''
  for await (const chunk of socket) text += chunk
  return Number(/used_memory:(\d+)/.exec(text)?.[1])
}

async function printThroughput(redis) {
  for (const count of [1, 2, 3]) {
    const rounds = []
    for (let round = 0; round < ROUNDS; round++) {
      const prefix = `--prefix=throughput${count}${round}:`
      const servers = await Promise.all(Array.from({ length: count }, () => startHttp(script, [`--store=${redis.url}`, prefix])))
      rounds.push(await throughput(servers, redis))
      for (const server of servers) await server.stop()
    }
    const of = (key) => median(rounds.map((result) => result[key]))
    console.log(
      `  ${count} ${count === 1 ? 'replica' : 'replicas'}: ${of('perSecond').toFixed(0)} calls a second, ${of('cpu').toFixed(0)} us of processor time in the replicas and ${of('redisCpu').toFixed(0)} us in Redis for each call`,
    )
  }
}

/** Every call of a session goes to the next replica, as behind a balancer without stickiness. */
async function throughput(servers, redis) {
  const CONNECTIONS = 48
  const CALLS = 12_000
  const lines = await Promise.all(
    Array.from({ length: CONNECTIONS }, async (_, n) => {
      const connections = servers.map(({ url }) => new Connection(url))
      const headers = (await dialects.session(connections[n % connections.length]))()
      return { connections, headers }
    }),
  )
  let next = 0
  const run = async (calls) => {
    const end = next + calls
    const worker = async ({ connections, headers }) => {
      while (next < end) {
        const id = ++next
        const body = `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"echo","arguments":{"text":"hello ${id}"}}}`
        const answer = await connections[id % connections.length].post(body, headers)
        if (answer.status !== 200 || !answer.body.includes(`"hello ${id}"`))
          throw new Error(`A wrong answer: ${answer.status} ${answer.body}`)
      }
    }
    await Promise.all(lines.map(worker))
  }
  await run(CALLS / 4)
  const cpu = () => servers.reduce((sum, { pid }) => sum + cpuOf(pid), 0)
  const before = { cpu: cpu(), redis: cpuOf(redis.pid), at: performance.now() }
  await run(CALLS)
  const seconds = (performance.now() - before.at) / 1000
  const result = { perSecond: CALLS / seconds, cpu: (cpu() - before.cpu) / CALLS, redisCpu: (cpuOf(redis.pid) - before.redis) / CALLS }
  for (const { connections } of lines) for (const connection of connections) connection.close()
  return result
}

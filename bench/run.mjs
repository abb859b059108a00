/** npm run bench: compares Portico with other SDKs and with `raw`, a minimal program. Runs take turns; results are ratios. */

import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { loadavg } from 'node:os'
import { fileURLToPath } from 'node:url'
import { median } from './cpu.mjs'
import { httpMeasures } from './http-measures.mjs'
import { loadStdio } from './stdio-load.mjs'

const here = fileURLToPath(new URL('.', import.meta.url))
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 5)
const only = process.argv.slice(2)
const of = (name, file) => `${here}contestants/${name}/${file}.mjs`
const rawServer = of('raw', 'stdio-server')

/** The measures. Each has contestants by name and a goal. Ratios are relative to the first contestant. */
const MEASURES = [
  {
    name: 'stdio tools/call, 64 in flight (CPU of the server)',
    unit: 'us',
    goal: 1.6,
    run: {
      raw: load('raw'),
      portico: load('portico'),
      'portico 2026': load('portico', { stateless: true }),
      v1: load('v1'),
      v2: load('v2'),
    },
    value: ({ cpu }) => cpu,
  },
  {
    name: 'stdio latency, one at a time (p50)',
    unit: 'us',
    goal: 1.15,
    run: { raw: latency('raw'), portico: latency('portico'), v1: latency('v1'), v2: latency('v2') },
    value: ({ p50 }) => p50,
  },
  {
    name: 'in memory, client and server (CPU of both)',
    unit: 'us',
    goal: 1.5,
    run: {
      raw: memory('raw'),
      portico: memory('portico'),
      'portico 2026': memory('portico', '2026-07-28'),
      v1: memory('v1'),
      v2: memory('v2'),
    },
    value: ({ cpu }) => cpu,
  },
  {
    name: 'client over stdio, 64 in flight (CPU of the client)',
    unit: 'us',
    goal: 1.3,
    run: { raw: client('raw'), portico: client('portico'), v1: client('v1'), v2: client('v2') },
    value: ({ cpu }) => cpu,
  },
  {
    name: 'cold start to the first answer on stdio',
    unit: 'ms',
    goal: 1.15,
    repeat: 5,
    run: {
      raw: cold('raw', 'stdio-server'),
      portico: cold('portico', 'cold-server'),
      v1: cold('v1', 'cold-server'),
      v2: cold('v2', 'cold-server'),
    },
    value: (ms) => ms,
  },
  {
    name: 'import of what a stdio server needs (ms, goal 25)',
    unit: 'ms',
    isAbsolute: true,
    goal: 25,
    repeat: 3,
    run: {
      portico: importing(['portico/server', 'portico/stdio']),
      v1: importing(['@modelcontextprotocol/sdk/server/mcp.js', '@modelcontextprotocol/sdk/server/stdio.js']),
      v2: importing(['@modelcontextprotocol/server', '@modelcontextprotocol/server/stdio']),
    },
    value: (ms) => ms,
  },
  ...httpMeasures(of, calls),
]

function load(name, options = {}) {
  return () => loadStdio(of(name, 'stdio-server'), { inFlight: 64, calls: 40_000, ...options })
}

function latency(name) {
  return () => loadStdio(of(name, 'stdio-server'), { inFlight: 1, calls: 4_000 })
}

function memory(name, ...args) {
  return () => calls(of(name, 'memory'), 40_000, 64, args)
}

function client(name) {
  return () => calls(of(name, 'stdio-client'), 30_000, 64, [process.execPath, JSON.stringify([rawServer])])
}

function calls(file, count, inFlight, args) {
  const { stdout, status } = spawnSync(process.execPath, [`${here}calls.mjs`, file, String(count), String(inFlight), ...args], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  if (status !== 0) throw new Error(`${file} failed`)
  return JSON.parse(stdout)
}

function cold(name, file) {
  return () =>
    new Promise((resolve) => {
      const start = performance.now()
      const child = spawn(process.execPath, [of(name, file)], { stdio: ['pipe', 'pipe', 'inherit'] })
      child.stdin.write(
        '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"a","version":"1"}}}\n',
      )
      child.stdout.once('data', () => {
        const ms = performance.now() - start
        child.once('exit', () => resolve(ms))
        child.stdin.end()
        setTimeout(() => child.kill('SIGKILL'), 3000).unref()
      })
    })
}

function importing(specifiers) {
  const code = `const start = performance.now(); await Promise.all(${JSON.stringify(specifiers)}.map((name) => import(name))); console.log(performance.now() - start)`
  return () => Number(spawnSync(process.execPath, ['--input-type=module', '-e', code], { cwd: `${here}..`, encoding: 'utf8' }).stdout)
}

console.log(`Medians of ${ROUNDS} interleaved rounds on Node ${process.versions.node}.`)
const results = {}
for (const measure of MEASURES) {
  const { name, run, value, repeat = 1 } = measure
  if (only.length > 0 && !only.some((word) => name.includes(word))) continue
  results[name] = Object.fromEntries(Object.keys(run).map((contestant) => [contestant, []]))
  for (let round = 0; round < ROUNDS * repeat; round++) {
    for (const [contestant, once] of Object.entries(run)) {
      process.stderr.write(`\r\u001b[K${name}: round ${round + 1} of ${ROUNDS * repeat}, ${contestant}`)
      results[name][contestant].push(value(await once()))
    }
  }
  process.stderr.write('\r\u001b[K')
  print(measure, results[name])
}

/** Prints a measure as soon as it is done, because the whole run takes long. The load average tells how far to trust it. */
function print({ name, unit, goal, isAbsolute, isHigherBetter }, measured) {
  const medians = Object.entries(measured).map(([contestant, numbers]) => [contestant, median(numbers)])
  const base = isAbsolute ? 1 : medians[0][1]
  console.log(`\n${name} (load average ${loadavg()[0].toFixed(1)})`)
  for (const [contestant, number] of medians) {
    const ratio = number / base
    // The other contestants are variants of Portico if Portico is what they are compared with.
    const hasGoal = medians[0][0] === 'portico' && !isAbsolute ? contestant !== 'portico' : contestant.startsWith('portico')
    const isReached = isHigherBetter ? ratio >= goal : ratio <= goal
    const verdict = hasGoal ? `goal ${goal}: ${isReached ? 'reached' : 'missed'}` : ''
    console.log(
      `  ${contestant.padEnd(13)} ${number.toFixed(2).padStart(9)} ${unit}  ${isAbsolute ? '' : `${ratio.toFixed(2).padStart(6)} x ${medians[0][0]}`}  ${verdict}`,
    )
  }
}
mkdirSync(`${here}../.cache`, { recursive: true })
writeFileSync(`${here}../.cache/bench.json`, JSON.stringify(results))

if (only.length === 0 || only.includes('types')) await import('./types.mjs')
if (only.length === 0 || only.includes('console')) await (await import('./console.mjs')).printConsole()
if (only.length === 0 || only.includes('install')) await (await import('./install.mjs')).printInstallation()
if (only.length === 0 || only.includes('replicas')) await (await import('./replicas.mjs')).printReplicas()
if (only.length === 0 || only.includes('streams')) spawnSync(process.execPath, [`${here}streams.mjs`], { stdio: 'inherit' })

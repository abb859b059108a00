/** Puts load on a stdio server: several calls at the same time. Checks every answer; measures the server's CPU time and the latency. */

import { spawn } from 'node:child_process'
import { cpuOf } from './cpu.mjs'

const HANDSHAKE = [
  {
    jsonrpc: '2.0',
    id: 0,
    method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'load', version: '1' } },
  },
  { jsonrpc: '2.0', method: 'notifications/initialized' },
]
const WARM_UP = 3000

/** Resolves with the server's CPU per call and the median latency, both in microseconds. */
export function loadStdio(script, { inFlight, calls, stateless = false }) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [script], { stdio: ['pipe', 'pipe', 'inherit'] })
    const meta = stateless
      ? ',"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"load","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}'
      : ''
    const sentAt = []
    const latencies = []
    let sent = 0
    let answered = 0
    let cpuAtStart = 0
    let rest = ''
    const request = () => {
      const id = ++sent
      sentAt[id] = performance.now()
      return `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"echo","arguments":{"text":"hello ${id}"}${meta}}}\n`
    }
    const onLine = (line) => {
      if (answered === 0 && sent === 0) return Array.from({ length: inFlight }, request).join('')
      const { id, result } = JSON.parse(line)
      if (result?.content?.[0]?.text !== `hello ${id}`) throw new Error(`A wrong answer: ${line}`)
      latencies.push(performance.now() - sentAt[id])
      if (++answered === WARM_UP) {
        cpuAtStart = cpuOf(child.pid)
        latencies.length = 0
      }
      if (answered === calls + WARM_UP) {
        const cpu = (cpuOf(child.pid) - cpuAtStart) / calls
        latencies.sort((a, b) => a - b)
        child.once('exit', () =>
          resolve({ cpu, p50: latencies[latencies.length >> 1] * 1000, p99: latencies[Math.floor(latencies.length * 0.99)] * 1000 }),
        )
        child.stdin.end()
      }
      return sent < calls + WARM_UP ? request() : ''
    }
    child.stdout.setEncoding('utf8')
    child.stdout.on('data', (chunk) => {
      const lines = (rest + chunk).split('\n')
      rest = lines.pop()
      try {
        const out = lines.map(onLine).join('')
        if (out !== '') child.stdin.write(out)
      } catch (error) {
        child.kill('SIGKILL')
        reject(error)
      }
    })
    // A stateless server needs no handshake. This request only shows that it is ready.
    const opening = stateless ? [{ jsonrpc: '2.0', id: 0, method: 'server/discover', params: JSON.parse(`{${meta.slice(1)}}`) }] : HANDSHAKE
    child.stdin.write(`${opening.map((message) => JSON.stringify(message)).join('\n')}\n`)
  })
}

/** Puts load on an HTTP server: several connections, one request at a time on each. Checks every answer. */

import { spawn } from 'node:child_process'
import { connect } from 'node:net'
import { cpuOf } from './cpu.mjs'

/** Starts a contestant's server, which prints its URL. */
export function startHttp(script, args = [], nodeArgs = []) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [...nodeArgs, script, ...args], { stdio: ['pipe', 'pipe', 'inherit', 'ipc'] })
    let out = ''
    child.stdout.on('data', (chunk) => {
      out += chunk
      const url = /listening on (\S+)/.exec(out)?.[1]
      if (url) resolve({ url: new URL(url), pid: child.pid, child, stop: () => stop(child) })
    })
    child.once('exit', (code) => reject(new Error(`${script} ended with ${code}: ${out}`)))
  })
}

const stop = (child) =>
  new Promise((resolve) => {
    child.removeAllListeners('exit')
    child.once('exit', resolve)
    child.kill('SIGKILL')
  })

/** One keep-alive connection, written directly on a socket so that it costs as little as possible. */
export class Connection {
  #socket
  #rest = Buffer.alloc(0)
  #chunks = []
  #size = 0
  #needed = 0
  /** Receives the data of an open stream. */
  onData
  #waiting
  #url

  constructor(url) {
    this.#url = url
    this.#socket = connect({ host: url.hostname, port: Number(url.port), noDelay: true })
    this.#socket.on('data', (chunk) => {
      this.onData?.(String(chunk))
      this.#chunks.push(chunk)
      this.#size += chunk.length
      // Joins the pieces only when the answer may be complete, because a large answer comes in hundreds of pieces.
      if (this.#size < this.#needed) return
      this.#rest = this.#chunks.length === 1 ? chunk : Buffer.concat(this.#chunks)
      this.#chunks = [this.#rest]
      this.#look()
    })
    this.#socket.on('error', (error) => this.#waiting?.reject(error))
    this.#socket.on('close', () => this.#waiting?.reject(new Error('The connection closed')))
  }

  post(body, headers) {
    const length = Buffer.byteLength(body)
    this.#socket.write(
      `POST ${this.#url.pathname} HTTP/1.1\r\nHost: ${this.#url.host}\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n${headers}Content-Length: ${length}\r\n\r\n${body}`,
    )
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject }
    })
  }

  /** Opens a stream. Resolves when its head has arrived. */
  get(headers) {
    this.#socket.write(`GET ${this.#url.pathname} HTTP/1.1\r\nHost: ${this.#url.host}\r\nAccept: text/event-stream\r\n${headers}\r\n`)
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject, isStream: true }
    })
  }

  /** Sends a request whose answer is a stream that stays open. */
  listen(body, headers) {
    const done = this.post(body, headers)
    this.#waiting.isStream = true
    return done
  }

  close() {
    this.#waiting = undefined
    this.#socket.destroy()
  }

  #look() {
    if (!this.#waiting) return
    const end = this.#rest.indexOf('\r\n\r\n')
    if (end < 0) return
    const head = this.#rest.toString('latin1', 0, end)
    const status = Number(head.slice(9, 12))
    if (this.#waiting.isStream) return this.#settle(status, head, '', this.#rest.length)
    const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1]
    if (length !== undefined) {
      const to = end + 4 + Number(length)
      if (this.#rest.length >= to) this.#settle(status, head, this.#rest.toString('utf8', end + 4, to), to)
      else this.#needed = to
      return
    }
    if (!/\r\ntransfer-encoding: *chunked/i.test(head)) return this.#settle(status, head, '', end + 4)
    this.#lookAtChunks(status, head, end + 4)
  }

  #lookAtChunks(status, head, from) {
    const parts = []
    for (let at = from; ; ) {
      const line = this.#rest.indexOf('\r\n', at)
      if (line < 0) return
      const size = Number.parseInt(this.#rest.toString('latin1', at, line), 16)
      const next = line + 2 + size + 2
      if (this.#rest.length < next) {
        this.#needed = next
        return
      }
      if (size === 0) return this.#settle(status, head, Buffer.concat(parts).toString('utf8'), next)
      parts.push(this.#rest.subarray(line + 2, line + 2 + size))
      at = next
    }
  }

  #settle(status, head, body, used) {
    this.#rest = this.#rest.subarray(used)
    this.#chunks = this.#rest.length > 0 ? [this.#rest] : []
    this.#size = this.#rest.length
    this.#needed = 0
    const { resolve } = this.#waiting
    this.#waiting = undefined
    resolve({ status, head, body })
  }
}

/** The JSON-RPC message of an answer: the JSON body, or the last event of a stream. */
function answerIn({ head, body }) {
  if (!/\r\ncontent-type: *text\/event-stream/i.test(head)) return body
  const at = body.lastIndexOf('data: ')
  const to = body.indexOf('\n', at)
  return body.slice(at + 6, to < 0 ? undefined : to)
}

const HANDSHAKE = JSON.stringify({
  jsonrpc: '2.0',
  id: 0,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'load', version: '1' } },
})
const INITIALIZED = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })
const META =
  ',"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"load","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}'

/** The headers of a request, by dialect. */
export const dialects = {
  /** @returns the headers of every later request */
  session: async (connection) => {
    const { head, status } = await connection.post(HANDSHAKE, '')
    if (status !== 200) throw new Error(`The handshake was answered with ${status}`)
    const id = /\r\nmcp-session-id: *(\S+)/i.exec(head)?.[1]
    const headers = `MCP-Protocol-Version: 2025-11-25\r\n${id ? `Mcp-Session-Id: ${id}\r\n` : ''}`
    await connection.post(INITIALIZED, headers)
    return () => headers
  },
  stateless: async () => (method, name) =>
    `MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: ${method}\r\n${name ? `Mcp-Name: ${name}\r\n` : ''}`,
}

/** The requests, each with the check of its answer. */
const requests = {
  echo: (isStateless) => ({
    method: 'tools/call',
    name: 'echo',
    body: (id) =>
      `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"echo","arguments":{"text":"hello ${id}"}${isStateless ? META : ''}}}`,
    isRight: (text, id) => text.includes(`"hello ${id}"`),
  }),
  structured: (isStateless) => ({
    method: 'tools/call',
    name: 'add',
    body: (id) =>
      `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"add","arguments":{"a":${id},"b":1}${isStateless ? META : ''}}}`,
    isRight: (text, id) => text.includes(`"structuredContent":{"sum":${id + 1}}`),
  }),
  list: (isStateless) => ({
    method: 'tools/list',
    body: (id) => `{"jsonrpc":"2.0","id":${id},"method":"tools/list","params":{${isStateless ? META.slice(1) : ''}}}`,
    isRight: (text) => text.includes('"tool_0"'),
  }),
  big: (isStateless) => ({
    method: 'tools/call',
    name: 'big',
    body: (id) => `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"big","arguments":{}${isStateless ? META : ''}}}`,
    isRight: (text) => text.length > 1024 * 1024,
  }),
  blob: (isStateless) => ({
    method: 'resources/read',
    name: 'bench://blob',
    body: (id) => `{"jsonrpc":"2.0","id":${id},"method":"resources/read","params":{"uri":"bench://blob"${isStateless ? META : ''}}}`,
    isRight: (text) => text.length > 13 * 1024 * 1024,
  }),
  progress: () => ({
    method: 'tools/call',
    name: 'progress',
    body: (id) =>
      `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"progress","arguments":{},"_meta":{"progressToken":${id}}}}`,
    isRight: (_text, _id, body) => body.split('notifications/progress').length === 1001,
  }),
}

/** V8 compiles for some thousand calls. A shorter warm-up measures that, too. */
const WARM_UP = 10_000

/**
 * Resolves with the server's CPU per call, the latencies and the wall time per call, in microseconds.
 * @param options.dialect `session` or `stateless`
 * @param options.request one of `requests`
 */
export async function loadHttp(
  script,
  { args = [], dialect = 'session', request = 'echo', connections = 64, calls = 20_000, warmUp = WARM_UP },
) {
  const server = await startHttp(script, args)
  try {
    const { method, name, body, isRight } = requests[request](dialect === 'stateless')
    const lines = await Promise.all(
      Array.from({ length: connections }, async () => {
        const connection = new Connection(server.url)
        const headersOf = await dialects[dialect](connection)
        return { connection, headers: headersOf(method, name) }
      }),
    )
    let nextId = 1
    const latencies = []
    const run = async (count) => {
      let left = count
      const worker = async ({ connection, headers }) => {
        while (left-- > 0) {
          const id = nextId++
          const start = performance.now()
          const answer = await connection.post(body(id), headers)
          latencies.push(performance.now() - start)
          if (answer.status !== 200 || !isRight(answerIn(answer), id, answer.body)) {
            throw new Error(`A wrong answer: ${answer.status} ${answer.body.slice(0, 500)}`)
          }
        }
      }
      await Promise.all(lines.map(worker))
    }
    await run(warmUp)
    latencies.length = 0
    const before = cpuOf(server.pid)
    const start = performance.now()
    await run(calls)
    const wall = ((performance.now() - start) * 1000) / calls
    const cpu = (cpuOf(server.pid) - before) / calls
    latencies.sort((a, b) => a - b)
    for (const { connection } of lines) connection.close()
    return { cpu, wall, p50: latencies[latencies.length >> 1] * 1000, p99: latencies[Math.floor(latencies.length * 0.99)] * 1000 }
  } finally {
    await server.stop()
  }
}

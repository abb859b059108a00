/** A minimal client, as the lower limit: writes requests and matches answers by id, without checks. */

import { spawn } from 'node:child_process'

export async function open(command, args) {
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] })
  const pending = new Map()
  let rest = ''
  let nextId = 0
  child.stdout.setEncoding('utf8')
  child.stdout.on('data', (chunk) => {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop()
    for (const line of lines) {
      const { id, result } = JSON.parse(line)
      pending.get(id)(result)
      pending.delete(id)
    }
  })
  const request = (method, params) =>
    new Promise((resolve) => {
      const id = ++nextId
      pending.set(id, resolve)
      child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`)
    })
  return { call: (text) => request('tools/call', { name: 'echo', arguments: { text } }), close: () => child.stdin.end() }
}

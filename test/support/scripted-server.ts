/** A server that says exactly what a test wants it to say, well-behaved or not. */

import type { LinkReceiver, Target } from '../../src/client/index.ts'
import type { Id } from '../../src/jsonrpc/message.ts'
import { DEFAULT_READ_BOUNDS, read } from '../../src/jsonrpc/read.ts'
import type { Message } from './raw-channel.ts'

export interface Script {
  target: Target
  /** What the client has sent on the current connection. */
  received: Message[]
  /** Sends a message to the client. */
  send(message: unknown): void
  /** Says that the answer to the request `id` will not come, though the connection goes on. */
  lose(id: unknown, error: Error): void
  /** Ends the connection from the server's side. */
  hangUp(error?: Error): void
  opened: number
  isClosed: boolean
}

export type Respond = (message: Message, send: (message: unknown) => void) => void

let count = 0

/** @param respond called with every message of the client; what it does not answer stays unanswered */
export function scriptedServer(respond: Respond, target: Partial<Target> = {}): Script {
  let receiver: LinkReceiver | undefined
  const script: Script = {
    received: [],
    opened: 0,
    isClosed: false,
    send: (message) => {
      const json = typeof message === 'string' ? message : JSON.stringify(message)
      queueMicrotask(() => receiver?.onMessage(read(json, DEFAULT_READ_BOUNDS)))
    },
    lose: (id, error) => receiver?.onLost(id as Id, error),
    hangUp: (error) => receiver?.onClose(error),
    target: {
      key: `scripted:${++count}`,
      label: 'scripted server',
      open: async () => {
        script.opened++
        script.received = []
        script.isClosed = false
        return {
          start: (given) => {
            receiver = given
          },
          send: (json) => {
            const message = JSON.parse(json) as Message
            script.received.push(message)
            respond(message, script.send)
          },
          close: async () => {
            script.isClosed = true
          },
        }
      },
      ...target,
    },
  }
  return script
}

export interface Behaviour {
  revision?: string
  capabilities?: Message
  /** Results by method; a function is called with the params. What throws is answered as an error. */
  results?: Record<string, Message | ((params: Message, message: Message) => Message | undefined)>
  serverInfo?: Message
}

/** A well-behaved server of one revision with canned results. */
export function cannedServer(behaviour: Behaviour = {}, target: Partial<Target> = {}): Script {
  const {
    revision = '2025-11-25',
    capabilities = { tools: {}, resources: { subscribe: true }, prompts: {}, logging: {}, completions: {} },
    results = {},
  } = behaviour
  const isStateless = revision === '2026-07-28'
  const serverInfo = behaviour.serverInfo ?? { name: 'canned', version: '1' }
  return scriptedServer((message, send) => {
    const { id, method, params = {} } = message
    if (id === undefined || method === undefined) return
    const fail = (code: number, text: string, data?: unknown) =>
      send({ jsonrpc: '2.0', id, error: { code, message: text, ...(data === undefined ? {} : { data }) } })
    const answer = (result: Message) => send({ jsonrpc: '2.0', id, result: isStateless ? { resultType: 'complete', ...result } : result })
    if (method === 'server/discover' && !isStateless) return fail(-32601, 'Method not found')
    if (method === 'server/discover')
      return answer({
        supportedVersions: [revision],
        capabilities,
        ttlMs: 0,
        cacheScope: 'private',
        _meta: { 'io.modelcontextprotocol/serverInfo': serverInfo },
      })
    if (method === 'initialize') return answer({ protocolVersion: revision, capabilities, serverInfo })
    const canned = results[method]
    if (canned === undefined) return method === 'ping' ? answer({}) : fail(-32601, 'Method not found')
    try {
      const result = typeof canned === 'function' ? canned(params, message) : canned
      if (result) answer(result)
    } catch (error) {
      const { code = -32603, message: text, data } = error as { code?: number; message: string; data?: unknown }
      fail(code, text, data)
    }
  }, target)
}

/** A server on standard streams as one program without any library, so that a test can write and change it. */

interface BareServer {
  name: string
  /** JavaScript before the server, such as imports. */
  head?: string
  /** JavaScript: the definitions of all tools, as an array. */
  tools: string
  /** JavaScript: the text that every call returns. */
  text: string
}

export const bareServer = ({ name, head = '', tools, text }: BareServer): string => `${head}
import { createInterface } from 'node:readline'
const say = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n')
const ANSWERS = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: '${name}', version: '1.0.0' } }),
  'tools/list': () => ({ tools: ${tools} }),
  'tools/call': () => ({ content: [{ type: 'text', text: ${text} }] }),
  ping: () => ({}),
}
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line)
  if (id === undefined) return
  const answer = ANSWERS[method]
  say(answer ? { id, result: answer(params ?? {}) } : { id, error: { code: -32601, message: 'Method not found' } })
})
`

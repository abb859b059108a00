/** Measures the heap of a contestant's server, after garbage collection, for each session, open stream or subscription. */

import { Connection, dialects, startHttp } from './http-load.mjs'

const LISTEN =
  '{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}'

/** Each function opens one more session, stream or subscription, and returns a function that closes it. */
const holdings = {
  session: async (url) => {
    const connection = new Connection(url)
    await dialects.session(connection)
    connection.close()
    return () => {}
  },
  stream: async (url) => {
    const connection = new Connection(url)
    const headers = (await dialects.session(connection))()
    const { status } = await connection.get(headers)
    if (status !== 200) throw new Error(`A stream was answered with ${status}`)
    return () => connection.close()
  },
  listen: async (url) => {
    const connection = new Connection(url)
    const headers = (await dialects.stateless())('subscriptions/listen')
    const { status } = await connection.listen(LISTEN, headers)
    if (status !== 200) throw new Error(`A subscription was answered with ${status}`)
    return () => connection.close()
  },
}

/** Resolves with the kilobytes of heap for each one. */
export async function holdHttp(script, { holding, count = 1000, args = [] }) {
  const server = await startHttp(script, args, ['--expose-gc'])
  const heap = () =>
    new Promise((resolve) => {
      server.child.once('message', resolve)
      server.child.send('heap')
    })
  const open = holdings[holding]
  const closers = []
  const hold = async (many) => {
    for (let i = 0; i < many; i += 50) {
      closers.push(...(await Promise.all(Array.from({ length: Math.min(50, many - i) }, () => open(server.url)))))
    }
  }
  try {
    await hold(200)
    const before = await heap()
    await hold(count)
    await new Promise((resolve) => setTimeout(resolve, 300))
    return ((await heap()) - before) / count / 1024
  } finally {
    for (const close of closers) close()
    await server.stop()
  }
}

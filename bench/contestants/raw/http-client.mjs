/** A minimal client, as the lower limit: an undici pool that posts and parses, without checks. */

import { Pool } from 'undici'

const headers = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
  'mcp-protocol-version': '2025-11-25',
  'mcp-session-id': 's',
}

export async function open(url) {
  const { origin, pathname } = new URL(url)
  const pool = new Pool(origin, { connections: 64 })
  let id = 0
  const call = async (text) => {
    const message = { jsonrpc: '2.0', id: ++id, method: 'tools/call', params: { name: 'echo', arguments: { text } } }
    const { body } = await pool.request({ path: pathname, method: 'POST', headers, body: JSON.stringify(message) })
    return JSON.parse(await body.text()).result
  }
  return { call, close: () => pool.close() }
}

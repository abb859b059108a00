/** A minimal server, as the lower limit: lines of JSON in and out, without checks. It writes all answers to one chunk at once. */

let rest = ''
process.stdin.setEncoding('utf8')
process.stdin.on('data', (chunk) => {
  const lines = (rest + chunk).split('\n')
  rest = lines.pop()
  let out = ''
  for (const line of lines) {
    const { id, method, params } = JSON.parse(line)
    if (id === undefined) continue
    const result =
      method === 'tools/call'
        ? { content: [{ type: 'text', text: params.arguments.text }] }
        : { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'raw', version: '1' } }
    out += `${JSON.stringify(method === 'server/discover' ? { jsonrpc: '2.0', id, error: { code: -32601, message: 'no' } } : { jsonrpc: '2.0', id, result })}\n`
  }
  if (out !== '') process.stdout.write(out)
})
process.stdin.on('end', () => process.exit(0))

/** A minimal exchange in memory, as the lower limit: a request and its answer, each written as JSON and parsed. */

export async function open() {
  let nextId = 0
  const call = async (text) => {
    const request = JSON.parse(
      JSON.stringify({ jsonrpc: '2.0', id: ++nextId, method: 'tools/call', params: { name: 'echo', arguments: { text } } }),
    )
    const answer = JSON.parse(
      JSON.stringify({ jsonrpc: '2.0', id: request.id, result: { content: [{ type: 'text', text: request.params.arguments.text }] } }),
    )
    return answer.result
  }
  return { call, close: () => {} }
}

/** A stand-in for the provider of a model: an OpenAI-compatible chat endpoint on a local port that says what a test wants. */

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

export type Said = { text: string } | { calls: { name: string; args: unknown }[] }

export interface ProviderRequest {
  messages: { role: string; content: unknown; tool_call_id?: string; tool_calls?: unknown[] }[]
  tools?: { function: { name: string; description?: string; parameters: unknown } }[]
  stream?: boolean
}

export interface Provider {
  url: string
  /** The requests so far. */
  requests: ProviderRequest[]
  /** The content of the last tool message, as the model gets it. */
  lastResult(): unknown
}

/** Answers each request with the next of these, and closes after the test. */
export async function provider(...answers: Said[]): Promise<Provider> {
  const requests: ProviderRequest[] = []
  const server = createServer((request, response) => void answer(request, response))
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    let body = ''
    for await (const chunk of request) body += String(chunk)
    const asked = JSON.parse(body) as ProviderRequest
    requests.push(asked)
    const said = answers.shift() ?? { text: 'Nothing more to say' }
    if (asked.stream) sendStream(response, said)
    else response.setHeader('content-type', 'application/json').end(JSON.stringify(completion(said, 'message')))
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests,
    lastResult: () => requests.at(-1)?.messages.findLast(({ role }) => role === 'tool')?.content,
  }
}

let made = 0

function completion(said: Said, key: 'message' | 'delta') {
  const message =
    'text' in said
      ? { role: 'assistant', content: said.text }
      : {
          role: 'assistant',
          content: null,
          tool_calls: said.calls.map(({ name, args }, index) => ({
            index,
            id: `call_${++made}`,
            type: 'function',
            function: { name, arguments: JSON.stringify(args) },
          })),
        }
  return {
    id: 'answer',
    object: key === 'message' ? 'chat.completion' : 'chat.completion.chunk',
    created: 1,
    model: 'stand-in',
    choices: [{ index: 0, [key]: message, finish_reason: 'text' in said ? 'stop' : 'tool_calls' }],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  }
}

function sendStream(response: ServerResponse, said: Said): void {
  response.setHeader('content-type', 'text/event-stream')
  response.end(`data: ${JSON.stringify(completion(said, 'delta'))}\n\ndata: [DONE]\n\n`)
}

/** The adapter to LangChain, with the real package and a provider on a local port. */

import { AIMessage, type BaseMessage, HumanMessage, ToolMessage } from 'langchain-core-v1/messages'
import type { DynamicStructuredTool } from 'langchain-core-v1/tools'
import { convertToOpenAITool } from 'langchain-core-v1/utils/function_calling'
import { expect, test } from 'vitest'
import { langchainTools } from '../../src/adapters/langchain/index.ts'
import { Conversation } from '../../src/host/index.ts'
import { person } from '../host/hosts.ts'
import { type Provider, provider } from './provider.ts'
import { connected, hosted, PICTURE, weather } from './servers.ts'

/** A small agent: LangChain's messages and tools, and one request to the provider for each step. */
async function agent({ url }: Provider, tools: DynamicStructuredTool[], prompt: string): Promise<BaseMessage[]> {
  const messages: BaseMessage[] = [new HumanMessage(prompt)]
  for (;;) {
    const body = { messages: messages.map(wireForm), tools: tools.map((tool) => convertToOpenAITool(tool)) }
    const response = await fetch(`${url}/chat/completions`, { method: 'POST', body: JSON.stringify(body) })
    const { choices } = (await response.json()) as { choices: { message: { content: string | null; tool_calls?: WireCall[] } }[] }
    const { content, tool_calls = [] } = choices[0]?.message ?? { content: '' }
    const calls = tool_calls.map(({ id, function: { name, arguments: args } }) => ({
      type: 'tool_call' as const,
      id,
      name,
      args: JSON.parse(args),
    }))
    messages.push(new AIMessage({ content: content ?? '', tool_calls: calls }))
    if (calls.length === 0) return messages
    for (const call of calls) messages.push(await tools.find(({ name }) => name === call.name)?.invoke(call))
  }
}

interface WireCall {
  id: string
  function: { name: string; arguments: string }
}

const wireForm = (message: BaseMessage) => ({
  role: { human: 'user', ai: 'assistant', tool: 'tool' }[message.type as 'human' | 'ai' | 'tool'],
  content: message.content,
  ...(message instanceof ToolMessage && { tool_call_id: message.tool_call_id }),
})

const last = (messages: BaseMessage[]): ToolMessage | undefined => messages.findLast((each) => each instanceof ToolMessage)

test('an agent calls a tool of the server and gets its answer', async () => {
  const { server, cities } = weather()
  const model = await provider({ calls: [{ name: 'forecast', args: { city: 'Oslo' } }] }, { text: 'Take an umbrella' })
  const messages = await agent(model, await langchainTools(await connected(server)), 'Weather?')
  expect(messages.at(-1)?.content).toBe('Take an umbrella')
  expect(cities).toEqual(['Oslo'])
  expect(model.lastResult()).toBe('Rain in Oslo')
  expect(last(messages)).toMatchObject({ status: 'success', name: 'forecast' })
  expect(model.requests[0]?.tools?.[0]?.function).toMatchObject({ name: 'forecast', parameters: { required: ['city'] } })
})

test('the artifact of a message has the structured content, and a picture reaches the model as one', async () => {
  const model = await provider({ calls: [{ name: 'measure', args: {} }] }, { calls: [{ name: 'map', args: {} }] }, { text: 'Done' })
  const messages = await agent(model, await langchainTools(await connected(weather().server)), 'Measure')
  const [measured] = messages.filter((each) => each instanceof ToolMessage)
  expect(measured?.artifact).toMatchObject({ structuredContent: { degrees: 21 } })
  expect(model.lastResult()).toEqual([
    { type: 'text', text: 'The map:' },
    { type: 'image_url', image_url: { url: `data:image/png;base64,${PICTURE}` } },
  ])
})

test('a tool that fails is a message with the status error, and the agent goes on', async () => {
  const model = await provider({ calls: [{ name: 'fail', args: {} }] }, { text: 'It failed' })
  const messages = await agent(model, await langchainTools(await connected(weather().server)), 'Try')
  expect(last(messages)).toMatchObject({ status: 'error', content: 'The station is closed', artifact: { isError: true } })
  expect(messages.at(-1)?.content).toBe('It failed')
})

test('a tool that is called without a call of a model returns the text of its failure', async () => {
  const tools = await langchainTools(await connected(weather().server))
  expect(await tools.find(({ name }) => name === 'fail')?.invoke({})).toBe('The station is closed')
})

test('progress arrives, an aborted call is cancelled at the server, and names suit every provider', async () => {
  const { server, aborted } = weather()
  const progress: unknown[] = []
  const tools = await langchainTools(await connected(server), { onProgress: ({ message }, { tool }) => progress.push([tool, message]) })
  const named = (name: string) => tools.find((tool) => tool.name.startsWith(name))
  await named('scan')?.invoke({})
  expect(progress).toEqual([
    ['scan', 'half'],
    ['scan', 'all'],
  ])
  await expect(named('wait')?.invoke({}, { signal: AbortSignal.timeout(200) })).rejects.toThrow(/abort/i)
  await expect.poll(() => aborted).toEqual(['wait'])
  expect(named('radar')?.name).toMatch(/^[A-Za-z0-9_-]{1,64}$/)
  expect(await named('radar')?.invoke({})).toBe('clear')
})

test('calls through a host are asked about as the model, and a refusal is an error for the model', async () => {
  const { server, cities } = weather()
  const ask = person(({ subject }) => (subject.kind === 'call' ? { kind: 'deny', feedback: 'Not today' } : undefined))
  const host = await hosted(server, { ask })
  const conversation = new Conversation()
  const model = await provider({ calls: [{ name: 'weather__forecast', args: { city: 'Oslo' } }] }, { text: 'Another day' })
  const messages = await agent(model, await langchainTools(host, { conversation, model: 'stand-in' }), 'Weather?')
  expect(last(messages)).toMatchObject({ status: 'error', artifact: { refused: { feedback: 'Not today' } } })
  expect(model.lastResult()).toContain('Not today')
  expect(cities).toEqual([])
  expect(ask.asked.at(-1)).toMatchObject({ chain: ['you', 'model stand-in', 'server weather'], run: conversation.id })
})

/** The adapter to the OpenAI Agents SDK, with the real package and a provider on a local port. */

import OpenAI from 'openai'
import { Agent, OpenAIChatCompletionsModel, RunContext, run, setTracingDisabled, type Tool } from 'openai-agents-v0'
import { expect, test } from 'vitest'
import { agentTools } from '../../src/adapters/openai-agents/index.ts'
import { Conversation } from '../../src/host/index.ts'
import { person } from '../host/hosts.ts'
import { provider } from './provider.ts'
import { connected, hosted, PICTURE, weather } from './servers.ts'

setTracingDisabled(true)

const agentOf = (url: string, tools: Tool[]) =>
  new Agent({
    name: 'Helper',
    model: new OpenAIChatCompletionsModel(new OpenAI({ baseURL: url, apiKey: 'none', maxRetries: 0 }), 'stand-in'),
    tools,
  })

const invoke = (tools: Tool[], prefix: string, args: unknown, signal?: AbortSignal) => {
  const tool = tools.find(({ name }) => name.startsWith(prefix))
  if (tool?.type !== 'function') throw new Error(`There is no tool ${prefix}`)
  return tool.invoke(new RunContext(), JSON.stringify(args), signal ? { signal } : undefined)
}

test('an agent calls a tool of the server and gets its answer', async () => {
  const { server, cities } = weather()
  const { url, requests, lastResult } = await provider(
    { calls: [{ name: 'forecast', args: { city: 'Oslo' } }] },
    { text: 'Take an umbrella' },
  )
  const { finalOutput } = await run(agentOf(url, await agentTools(await connected(server))), 'Weather?')
  expect(finalOutput).toBe('Take an umbrella')
  expect(cities).toEqual(['Oslo'])
  expect(lastResult()).toBe('Rain in Oslo')
  expect(requests[0]?.tools?.[0]?.function).toMatchObject({ name: 'forecast', parameters: { type: 'object', required: ['city'] } })
})

test.each([
  ['a tool that fails', 'fail', {}, 'Error: The station is closed'],
  ['arguments that the server refuses', 'forecast', { town: 'Oslo' }, /^Error: .*city/s],
])('%s is an error for the model, and the agent goes on', async (_what, name, args, expected) => {
  const { url, lastResult } = await provider({ calls: [{ name, args }] }, { text: 'It failed' })
  const { finalOutput } = await run(agentOf(url, await agentTools(await connected(weather().server))), 'Try')
  expect(finalOutput).toBe('It failed')
  expect(lastResult()).toMatch(expected)
})

test('structured content reaches the model as text, and a picture as a picture', async () => {
  const tools = await agentTools(await connected(weather().server))
  expect(JSON.parse(await invoke(tools, 'measure', {}))).toEqual({ degrees: 21 })
  expect(await invoke(tools, 'map', {})).toEqual([
    { type: 'text', text: 'The map:' },
    { type: 'image', image: { data: PICTURE, mediaType: 'image/png' } },
  ])
})

test('progress arrives, an aborted call is cancelled at the server, and names suit every provider', async () => {
  const { server, aborted } = weather()
  const progress: unknown[] = []
  const tools = await agentTools(await connected(server), { onProgress: ({ message }, { tool }) => progress.push([tool, message]) })
  await invoke(tools, 'scan', {})
  expect(progress).toEqual([
    ['scan', 'half'],
    ['scan', 'all'],
  ])
  void invoke(tools, 'wait', {}, AbortSignal.timeout(200)).catch(() => {})
  await expect.poll(() => aborted).toEqual(['wait'])
  expect(tools.find(({ name }) => name.startsWith('radar'))?.name).toMatch(/^[A-Za-z0-9_-]{1,64}$/)
  expect(await invoke(tools, 'radar', {})).toBe('clear')
})

test('calls through a host are asked about as the model, and a refusal tells the model why', async () => {
  const { server, cities } = weather()
  const ask = person(({ subject }) => (subject.kind === 'call' ? { kind: 'deny', feedback: 'Not today' } : undefined))
  const host = await hosted(server, { ask })
  const conversation = new Conversation()
  const { url, lastResult } = await provider({ calls: [{ name: 'weather__forecast', args: { city: 'Oslo' } }] }, { text: 'Another day' })
  const { finalOutput } = await run(agentOf(url, await agentTools(host, { conversation, model: 'stand-in' })), 'Weather?')
  expect(finalOutput).toBe('Another day')
  expect(lastResult()).toMatch(/The call was refused: .*Not today/)
  expect(cities).toEqual([])
  expect(ask.asked.at(-1)).toMatchObject({ chain: ['you', 'model stand-in', 'server weather'], run: conversation.id })
})

test('a provider interface without pictures in results gets the text of the result', async () => {
  const { url, lastResult } = await provider({ calls: [{ name: 'map', args: {} }] }, { text: 'A map' })
  const { finalOutput } = await run(agentOf(url, await agentTools(await connected(weather().server))), 'Map?')
  expect(finalOutput).toBe('A map')
  expect(lastResult()).toBe('The map:')
})

/** The official package for clients of tasks, and our server. */

import {
  type ApplicationInputHandler,
  type ConnectedMcpSessionPort,
  resultFromTaskOutcome,
  type SessionTaskCapabilities,
  type TaskEnabledSession,
  withTasks,
} from '@modelcontextprotocol/ext-tasks/client'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Server } from '../../src/server/index.ts'
import type { Message } from '../support/raw-channel.ts'
import { extensionClient, sessionClient, taskServer } from './task-server.ts'

type Generation = 'v1' | 'v2'

/** A connection of the package over a raw channel. */
async function portOf(server: Server, generation: Generation): Promise<ConnectedMcpSessionPort> {
  const v2 = generation === 'v2' ? extensionClient(server) : undefined
  // The package declares only the extension; the questions of the tools need more.
  const ask = v2 ? (method: string, params: Message) => v2.request(method, { ...params, _meta: {} }) : (await sessionClient(server)).ask
  const taskCapabilities: SessionTaskCapabilities =
    generation === 'v2'
      ? { generation, capabilities: {} }
      : { generation, capabilities: { list: {}, cancel: {}, requests: { tools: { call: {} } } } }
  return {
    endpointId: `tasks ${generation}`,
    taskCapabilities,
    invalidated: false,
    dispatch: async (request) => {
      const { method, params = {} } = request as unknown as { method: string; params?: Message }
      const { result, error } = await ask(method, params)
      return error ? { kind: 'error', error } : { kind: 'result', result }
    },
    onServerRequest: () => () => {},
    onNotification: () => () => {},
    onInvalidated: () => () => {},
  }
}

async function session(server: Server, generation: Generation): Promise<TaskEnabledSession> {
  const onInputRequest = (async () => ({ action: 'accept', content: { name: 'Ann' } })) as unknown as ApplicationInputHandler['handle']
  const tools = { currentTool: (name: string) => ({ name, inputSchema: { type: 'object' }, taskSupport: 'required' as const }) }
  const opened = withTasks(await portOf(server, generation), { tools, onInputRequest })
  onTestFinished(() => opened.close())
  return opened
}

const textIn = (result: unknown): unknown => (result as Message).content[0].text

describe.each(['v1', 'v2'] as const)('the official package for tasks, generation %s', (generation) => {
  test('calls a tool that runs as a task and gets its result', async () => {
    const { server, go } = taskServer({ pollIntervalMs: 20 })
    const execution = await (await session(server, generation)).callTool('only')
    setTimeout(() => go.open('done'), 50)
    const { outcome } = await execution.settle()
    expect(textIn(resultFromTaskOutcome(outcome))).toBe('done')
  })

  test('cancels a task', async () => {
    const { server, signal } = taskServer({ pollIntervalMs: 20 })
    const execution = await (await session(server, generation)).callTool('only')
    const settled = execution.settle()
    await new Promise((resolve) => setTimeout(resolve, 30))
    await execution.cancel()
    expect(signal().aborted).toBe(true)
    const { outcome } = await settled
    expect(outcome).toMatchObject({ status: 'cancelled' })
  })
})

// Only in the extension: in 2025-11-25 the package waits for the end of a task before it asks for the result, which would bring the questions.
test('the official package for tasks answers the questions of a task', async () => {
  const execution = await (await session(taskServer({ pollIntervalMs: 20 }).server, 'v2')).callTool('ask')
  const { outcome } = await execution.settle()
  expect(textIn(resultFromTaskOutcome(outcome))).toBe('Hello, Ann')
})

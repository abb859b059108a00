import { expect, test } from 'vitest'
import type { CreateMessageResult } from '../../src/client/index.ts'
import { REVISIONS } from '../../src/revisions/index.ts'
import { everythingServer, pair } from '../../src/testing/index.ts'

const versions = REVISIONS.map(({ version }) => version)

test.each(versions.slice(3))('sampling can offer the model a tool of the server (%s)', async (revision) => {
  const use: CreateMessageResult = {
    role: 'assistant',
    content: { type: 'tool_use', id: '1', name: 'look_up', input: { word: 'portico' } },
    model: 'test',
    stopReason: 'toolUse',
  }
  const asked: unknown[] = []
  const handler = ({ messages }: { messages: unknown[] }): CreateMessageResult => {
    asked.push(messages)
    return messages.length === 1 ? use : { role: 'assistant', content: { type: 'text', text: 'a roof' }, model: 'test' }
  }
  const { client, close } = await pair(everythingServer(), { revision, answer: { sample: { handler, tools: true } } })
  expect((await client.call('test_sampling_with_tools')).content).toEqual([{ type: 'text', text: 'The model test used a tool 1 times' }])
  expect(JSON.stringify(asked[1])).toContain('A roof on columns')
  await close()
})

test.each(versions)('a changed list of resources is announced (%s)', async (revision) => {
  const { client, close } = await pair(everythingServer(), { revision })
  const told = new Promise<void>((resolve) => void client.onChange('resources', resolve))
  const calling = setInterval(() => void client.call('test_trigger_resource_change').catch(() => {}), 20)
  await told
  clearInterval(calling)
  await close()
})

import { expect, test } from 'vitest'
import { createServer } from '../../../src/server/index.ts'
import { scriptedModel } from '../../../src/testing/index.ts'
import { proves } from '../../support/proves.ts'
import { hosts, person, textOf } from '../hosts.ts'

const { host: hostWith } = hosts()

test('a hint selects the model that the operator configured as its equivalent', async () => {
  proves('T-SAMP-035')
  const server = createServer({ name: 'asker', version: '1', limits: { toolCalls: false } })
  server.tool('ask', {}, async (_, context) => {
    const { model } = await context.sample('question', {
      messages: [{ role: 'user', content: { type: 'text', text: 'Who are you?' } }],
      maxTokens: 100,
      modelPreferences: { hints: [{ name: 'claude-sonnet' }] },
    })
    return model
  })
  const model = ['llama3.2', 'qwen3'].map((id) => scriptedModel({ id }))
  const plain = await hostWith({ servers: { asker: server }, ask: person(), model })
  expect(textOf(await plain.call('asker__ask'))).toBe('llama3.2')
  const told = await hostWith({ servers: { asker: server }, ask: person(), model, equivalents: { sonnet: ['qwen'] } })
  expect(textOf(await told.call('asker__ask'))).toBe('qwen3')
})

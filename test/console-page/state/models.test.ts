/** The models in the settings: the list, and what a person types to add one. */

import { describe, expect, test } from 'vitest'
import { type ModelDraft, modelFaults, modelRows, newModelOf } from '../../../console/src/state/models.ts'
import type { ModelProviderView } from '../../../src/console/api.ts'

const provider = (id: ModelProviderView['id'], more: Partial<ModelProviderView> = {}): ModelProviderView => ({
  id,
  key: 'optional',
  package: 'x',
  install: 'npm install x',
  isInstalled: true,
  ...more,
})
const OPENAI = provider('openai', { baseURL: 'https://api.openai.com/v1', key: 'needed' })
const OLLAMA = provider('ollama', { baseURL: 'http://127.0.0.1:11434/v1', key: 'none' })
const OTHER = provider('compatible')

const stored = (provider: ModelProviderView['id'], model: string, baseURL?: string) => ({
  id: `${provider}:${model}`,
  provider,
  model,
  ...(baseURL !== undefined && { baseURL }),
})
const QWEN = stored('ollama', 'qwen3')

const draft = (more: Partial<ModelDraft>): ModelDraft => ({ provider: 'openai', model: '', baseURL: '', key: '', ...more })

test('stored models say where they are and whether they have a key; others say what they are', () => {
  const rows = modelRows(
    [
      { id: 'ollama:qwen3', label: 'ollama qwen3', kind: 'configured' },
      { id: 'openai:x', label: 'openai x', kind: 'configured' },
      { id: 'given', label: 'given', kind: 'configured' },
      { id: 'person', label: 'you', kind: 'person' },
    ],
    [
      { id: 'ollama:qwen3', provider: 'ollama', model: 'qwen3', baseURL: 'http://127.0.0.1:1/v1' },
      { id: 'openai:x', provider: 'openai', model: 'x', secret: 'model/openai-x' },
    ],
  )
  expect(rows.map(({ about }) => about)).toEqual([
    'http://127.0.0.1:1/v1, no key',
    'OpenAI, key in the vault: model/openai-x',
    'given when Portico was started',
    'you answer in the page',
  ])
  expect(rows.map(({ stored }) => stored !== undefined)).toEqual([true, true, false, false])
})

describe('a new model', () => {
  test('is sent without what is the default, and without a key where none is used', () => {
    expect(newModelOf(draft({ model: ' gpt ', key: ' k ', baseURL: 'https://api.openai.com/v1' }), OPENAI, [])).toEqual({
      provider: 'openai',
      model: 'gpt',
      key: 'k',
    })
    expect(newModelOf(draft({ provider: 'ollama', model: 'qwen3', key: 'left over' }), OLLAMA, [])).toEqual({
      provider: 'ollama',
      model: 'qwen3',
    })
    expect(newModelOf(draft({ provider: 'compatible', model: 'm', baseURL: 'http://127.0.0.1:8080/v1' }), OTHER, [])).toEqual({
      provider: 'compatible',
      model: 'm',
      baseURL: 'http://127.0.0.1:8080/v1',
    })
  })

  test('is not sent while something is missing or wrong', () => {
    expect(newModelOf(draft({ model: 'gpt' }), OPENAI, [])).toBeUndefined()
    expect(newModelOf(draft({ key: 'k' }), OPENAI, [])).toBeUndefined()
    expect(newModelOf(draft({ provider: 'compatible', model: 'm' }), OTHER, [])).toBeUndefined()
    expect(newModelOf(draft({ provider: 'ollama', model: 'qwen3' }), OLLAMA, [QWEN])).toBeUndefined()
  })

  test('names what is wrong: a taken name, no address, a key that would be sent unencrypted', () => {
    expect(modelFaults(draft({ model: 'gpt' }), OPENAI, [stored('openai', 'gpt')])).toEqual({
      model: 'This model at this address is in the list already',
    })
    const here = stored('compatible', 'm', 'http://127.0.0.1:4800/v1/')
    expect(modelFaults(draft({ model: 'm', baseURL: 'http://127.0.0.1:4800/v1' }), OTHER, [here]).model).toBeDefined()
    expect(modelFaults(draft({ model: 'm', baseURL: 'http://127.0.0.1:4801/v1' }), OTHER, [here])).toEqual({})
    expect(modelFaults(draft({ baseURL: 'localhost' }), OTHER, []).baseURL).toContain('got "localhost"')
    expect(modelFaults(draft({ baseURL: 'http://models.example/v1', key: 'k' }), OTHER, []).key).toContain('unencrypted')
    for (const baseURL of ['http://127.0.0.1:1/v1', 'http://localhost/v1', 'http://[::1]/v1', 'https://models.example/v1'])
      expect(modelFaults(draft({ baseURL, key: 'k' }), OTHER, [])).toEqual({})
    expect(modelFaults(draft({}), OPENAI, [])).toEqual({})
  })
})

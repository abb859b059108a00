/** The models that a person stored in the folder of a host. */

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createHost, type HostEvent, type HostOptions, modelFile } from '../../../src/host/index.ts'
import type { Model } from '../../../src/host/language-models/language-model.ts'
import { StoredModels } from '../../../src/host/language-models/stored-models.ts'
import { openVault } from '../../../src/host/secrets/vault.ts'
import { scriptedModel } from '../../../src/testing/index.ts'
import { temporaryFolders } from '../../support/folders.ts'

const folders = temporaryFolders()

const hostIn = async (folder: string, options: HostOptions = {}) => {
  const host = await createHost({ folder, keychain: false, ...options })
  onTestFinished(() => host.close())
  return host
}

const ids = ({ models }: { models: readonly Model[] }): string[] => models.map(({ id }) => id)

const given: Model = { ...scriptedModel(), id: 'given' }

test('stored models follow those of the options, and the fallback is used while there is no other', async () => {
  const folder = folders()
  const host = await hostIn(folder, { fallbackModel: scriptedModel() })
  expect(ids(host)).toEqual(['scripted'])
  await host.storedModels.add({ provider: 'ollama', model: 'qwen3' })
  await host.storedModels.add({ provider: 'ollama', model: 'llama' })
  expect(ids(host)).toEqual(['ollama:qwen3', 'ollama:llama'])
  expect(host.models[0]?.label).toBe('ollama qwen3')
  expect(ids(await hostIn(folder, { model: given, fallbackModel: scriptedModel() }))).toEqual(['given', 'ollama:qwen3', 'ollama:llama'])
  expect(ids(await hostIn(folder, { model: 'ollama:llama' }))).toEqual(['ollama:llama', 'ollama:qwen3'])
  await expect(hostIn(folder, { model: 'ollama:none' })).rejects.toThrow('No stored model has the name "ollama:none"')
})

test('a damaged list is a warning, and the host starts without stored models', async () => {
  const folder = folders()
  await writeFile(join(folder, 'models.json'), '{"version":1,"models":[{"id":"x"}]}', { mode: 0o600 })
  const events: HostEvent[] = []
  const host = await hostIn(folder, { onEvent: (event) => events.push(event) })
  expect(ids(host)).toEqual([])
  expect(events).toContainEqual({ kind: 'warning', text: expect.stringContaining('models.json cannot be used: expected a list of models') })
})

test('the key of a model is read at each request, so that a new one is used at once', async () => {
  const folder = folders()
  const vault = await openVault({ folder: join(folder, 'secrets'), keychain: false, onWarning: () => {} })
  const opened: (string | undefined)[] = []
  const keys: string[] = []
  const stored = new StoredModels({
    folder,
    vault: async () => vault,
    onKey: (value) => keys.push(value),
    open: async ({ apiKey }) => {
      opened.push(apiKey)
      return given
    },
  })
  const { id, secret } = await stored.add({ provider: 'openai', model: 'small', apiKey: 'first-key' })
  const [model] = stored.models
  const say = async (): Promise<void> => {
    const stream = model?.stream({ messages: [{ role: 'user', content: { type: 'text', text: 'hi' } }] }, new AbortController().signal)
    for await (const _ of stream ?? []);
  }
  expect(opened).toEqual([])
  await say()
  await say()
  await vault.set(String(secret), 'second-key')
  await say()
  expect(opened).toEqual(['first-key', 'second-key'])
  expect(new Set(keys)).toEqual(new Set(['first-key', 'second-key']))
  await vault.delete(String(secret))
  await expect(say()).rejects.toThrow('The key of the model openai:small is no longer in the vault')
  expect(await stored.remove(id)).toBe(true)
  expect(await stored.remove(id)).toBe(false)
})

test('a key that two models share stays until the last of them is removed', async () => {
  const folder = folders()
  const host = await hostIn(folder)
  const shared = { provider: 'openai', apiKey: 'one-key-for-two' } as const
  const first = await host.storedModels.add({ ...shared, model: 'a/b' })
  const second = await host.storedModels.add({ ...shared, model: 'a-b' })
  expect([first.secret, second.secret]).toEqual(['model/openai-a-b', 'model/openai-a-b'])
  const vault = await host.secrets()
  await host.storedModels.remove(first.id)
  expect(await vault.list()).toEqual(['model/openai-a-b'])
  await host.storedModels.remove(second.id)
  expect(await vault.list()).toEqual([])
})

test('at most 100 models are stored', async () => {
  const file = modelFile(folders())
  for (let count = 0; count < 100; count++) await file.add({ id: `ollama:${count}`, provider: 'ollama', model: String(count) })
  await expect(file.add({ id: 'ollama:more', provider: 'ollama', model: 'more' })).rejects.toMatchObject({
    code: 'ERR_LIMIT',
    message: 'There are 100 models already: remove one first',
  })
  await expect(file.add({ id: 'ollama:1', provider: 'ollama', model: '1' })).rejects.toMatchObject({ code: 'ERR_CONFIG' })
})

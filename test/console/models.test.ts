/** The routes of a console for the models that the person stores. */

import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { scriptedModel } from '../../src/testing/index.ts'
import { KEY, provider } from '../host/language-models/fixtures/provider.ts'
import { APPROVED, consoles, event, Page } from './pages.ts'

const opened = consoles()

const withPage = async () => {
  const all = await opened({ host: { fallbackModel: scriptedModel(), policy: { session: APPROVED } } })
  await all.host.settled()
  return { ...all, page: await Page.open(all.console) }
}

const path = (id: string): string => `/api/models/${encodeURIComponent(id)}`

test('a stored model is tested, chatted with first, and removed with its key', async () => {
  const { page, host } = await withPage()
  const events = await page.events()
  const { origin, received } = await provider({ kind: 'message', text: ['hel', 'lo'] }, { kind: 'message', text: ['Good morning'] })
  const { models, providers } = await page.get('GET /api/models')
  expect(models).toEqual([])
  expect(providers.find(({ id }: { id: string }) => id === 'ollama')).toEqual({
    id: 'ollama',
    baseURL: 'http://127.0.0.1:11434/v1',
    key: 'none',
    package: '@ai-sdk/openai-compatible',
    install: 'npm install --no-save --save-dev @ai-sdk/openai-compatible',
    isInstalled: true,
  })
  expect((await page.get('GET /api/settings')).models[0].id).toBe('scripted')
  const added = await page.get('POST /api/models', { provider: 'compatible', model: 'canned', baseURL: `${origin}/v1`, key: ` ${KEY}\n` })
  const id = 'compatible:canned'
  expect(added.model).toEqual({ id, provider: 'compatible', model: 'canned', baseURL: `${origin}/v1`, secret: 'model/compatible-canned' })
  expect(await event(events, 'models')).toMatchObject({ ids: [id] })
  expect((await page.get('GET /api/secrets')).secrets).toEqual([{ name: 'model/compatible-canned', servers: [], models: [id] }])
  expect((await page.get('GET /api/settings')).models.map((each: { id: string }) => each.id)).toEqual([id, 'scripted', 'person'])
  expect((await page.run(`POST ${path(id)}/test`)).result).toMatchObject({ answer: 'hello', ms: expect.any(Number) })
  const { conversation } = (await page.run('POST /api/chat', { message: 'Hello' })).result
  expect(JSON.stringify(await page.get(`GET /api/conversations/${conversation}`))).toContain('Good morning')
  expect(received.map(({ headers }) => headers.authorization)).toEqual([`Bearer ${KEY}`, `Bearer ${KEY}`])
  await page.get(`DELETE ${path(id)}`)
  expect(host.models.map((model) => model.id)).toEqual(['scripted'])
  expect((await page.get('GET /api/secrets')).secrets).toEqual([])
  expect((await page.fails(`DELETE ${path(id)}`)).status).toBe(404)
  expect((await page.fails(`POST ${path(id)}/test`)).status).toBe(404)
})

test('the key is in no answer, no event and no file, also when the provider repeats it', async () => {
  const { page, folder, errors } = await withPage()
  const wrong = 'sk-wrong-0123456789abcdef0123456789'
  const { origin } = await provider()
  const events = await page.events()
  await page.get('POST /api/models', { provider: 'compatible', model: 'canned', baseURL: `${origin}/v1`, key: wrong })
  const failed = await page.run(`POST ${path('compatible:canned')}/test`)
  expect(failed).toMatchObject({ state: 'failed', error: { code: 'ERR_MODEL' } })
  expect(failed.error.message).toBe('The model canned refused the credentials (HTTP 401): Incorrect API key provided: [redacted]')
  await page.run('POST /api/chat', { message: 'Hello', id: 'chat-with-key' })
  const seen: string[] = []
  const isLast = (text: string | undefined): boolean => text?.includes('chat-with-key') === true && text.includes('endedAt')
  while (!isLast(seen.at(-1))) seen.push(JSON.stringify(await events.next()))
  const answers = await Promise.all(
    ['/api/models', '/api/secrets', '/api/settings', '/api/operations', '/api/audit', '/api/operations/chat-with-key'].map((each) =>
      page.send(`GET ${each}`),
    ),
  )
  for (const text of [...seen, ...answers.map((answer) => answer.text), ...errors.map(String), ...(await textsIn(folder))])
    expect(text).not.toContain(wrong)
})

test('a model that cannot be used is refused before anything is stored', async () => {
  const { page } = await withPage()
  const add = (body: object) => page.fails('POST /api/models', { body })
  expect(await add({ provider: 'compatible', model: 'x' })).toMatchObject({ status: 400, code: 'ERR_CONFIG' })
  expect(await add({ provider: 'other', model: 'x' })).toMatchObject({ status: 400 })
  expect(await add({ provider: 'openai', model: 'x' })).toMatchObject({ message: 'A model of openai needs an API key' })
  expect(await add({ provider: 'ollama', model: ' ' })).toMatchObject({ code: 'ERR_CONFIG' })
  expect(await add({ provider: 'ollama', model: 'x', baseURL: 'file:///etc' })).toMatchObject({ code: 'ERR_CONFIG' })
  expect(await add({ provider: 'compatible', model: 'x', baseURL: 'http://models.example/v1', key: KEY })).toMatchObject({
    status: 400,
    code: 'ERR_INSECURE',
  })
  await page.get('POST /api/models', { provider: 'ollama', model: 'x' })
  expect(await add({ provider: 'ollama', model: 'x' })).toMatchObject({ message: 'There is a model ollama:x already: remove it first' })
  expect((await page.get('GET /api/models')).models).toEqual([{ id: 'ollama:x', provider: 'ollama', model: 'x' }])
  expect((await page.get('GET /api/secrets')).secrets).toEqual([])
})

test('the same name at two addresses is two models, with an id each', async () => {
  const { page } = await withPage()
  const add = async (port: number) =>
    (
      await page.get('POST /api/models', {
        provider: 'compatible',
        model: 'm',
        baseURL: `http://127.0.0.1:${port}/v1`,
        key: `${KEY}${port}`,
      })
    ).model
  expect([await add(4800), await add(4801)]).toMatchObject([
    { id: 'compatible:m', secret: 'model/compatible-m' },
    { id: 'compatible:m@127.0.0.1:4801', secret: 'model/compatible-m-127.0.0.1-4801' },
  ])
  const taken = { provider: 'compatible', model: 'm', baseURL: 'http://127.0.0.1:4801/v1/' }
  expect((await page.fails('POST /api/models', { body: taken })).message).toContain('compatible:m@127.0.0.1:4801 already')
  const { models } = await page.get('GET /api/settings')
  expect(models.slice(0, 2).map(({ label }: { label: string }) => label)).toEqual(['127.0.0.1:4800 m', '127.0.0.1:4801 m'])
  await page.get('DELETE /api/models/compatible:m')
  expect((await page.get('GET /api/models')).models).toMatchObject([{ id: 'compatible:m@127.0.0.1:4801' }])
})

/** The text of every file below the folder. */
async function textsIn(folder: string): Promise<string[]> {
  const files = (await readdir(folder, { recursive: true, withFileTypes: true })).filter((each) => each.isFile())
  return Promise.all(files.map(({ parentPath, name }) => readFile(join(parentPath, name), 'latin1')))
}

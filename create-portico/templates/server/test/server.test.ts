import { pair } from 'portico/testing'
import { expect, test } from 'vitest'
import { server } from '../src/server.ts'

// The oldest and the newest revision of the protocol.
for (const revision of ['2024-11-05', '2026-07-28']) {
  test(`adds two numbers (${revision})`, async () => {
    const { client, close } = await pair(server, { revision })
    expect((await client.call('add', { a: 2, b: 3 })).structuredContent).toEqual({ sum: 5 })
    await close()
  })
}

test('wrong arguments are refused', async () => {
  const { client, close } = await pair(server)
  const { isError, content } = await client.call('add', { a: 2, b: 'three' })
  expect(isError).toBe(true)
  expect(JSON.stringify(content)).toContain('expected number')
  await close()
})

test('greets a person', async () => {
  const { client, close } = await pair(server)
  expect((await client.read('greeting://Ada')).contents).toMatchObject([{ text: 'Hello, Ada!' }])
  await close()
})

test('asks for a review', async () => {
  const { client, close } = await pair(server)
  const { messages } = await client.prompt('review', { code: 'let x' })
  expect(messages).toMatchObject([{ role: 'user', content: { type: 'text', text: expect.stringContaining('let x') } }])
  await close()
})

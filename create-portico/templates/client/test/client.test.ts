import { createServer } from 'portico/server'
import { pair } from 'portico/testing'
import { expect, test } from 'vitest'
import { callForText, describe } from '../src/client.ts'

function weather() {
  const server = createServer({ name: 'weather', version: '1.0.0' })
  const input = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] } as const
  server.tool('forecast', { description: 'The weather of a city', input }, ({ city }) => `Clear in ${city}`)
  return server
}

test('describes a server', async () => {
  const { client, close } = await pair(weather())
  expect(await describe(client)).toMatch(/^weather 1\.0\.0, revision .*\n {2}forecast {2}The weather of a city$/)
  await close()
})

test('calls a tool', async () => {
  const { client, close } = await pair(weather())
  expect(await callForText(client, 'forecast', { city: 'Paris' })).toBe('Clear in Paris')
  await expect(callForText(client, 'forecast', {})).rejects.toThrow('city')
  await close()
})

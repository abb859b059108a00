import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { audio, createServer, embed, image, link, text } from '../../src/server/index.ts'
import { connectPair, REVISIONS } from '../support/judged-pair.ts'
import { proves } from '../support/proves.ts'
import { rawChannel, settle } from '../support/raw-channel.ts'

const newServer = (options = {}) => createServer({ name: 'prompts', version: '1.0.0', onError: () => {}, ...options })

describe.each(REVISIONS)('prompts in %s', (revision) => {
  test('prompts are declared, listed with their arguments, and returned by prompts/get', async () => {
    proves('T-PROM-001', 'T-PROM-003', 'T-PROM-004', 'T-PROM-005', 'T-PROM-006', 'T-PROM-007', 'T-PROM-008', 'T-PROM-011', 'T-PROM-012')
    proves('R-PROM-004')
    const server = newServer()
    server.prompt('review', { description: 'Reviews code', input: z.object({ code: z.string() }) }, ({ code }) => `Please review:\n${code}`)
    const { client } = await connectPair(server, { revision })
    expect(client.server.capabilities.prompts).toEqual({ listChanged: true })
    expect(await client.prompts().all()).toEqual([
      { name: 'review', description: 'Reviews code', arguments: [{ name: 'code', required: true }] },
    ])
    expect(await client.prompt('review', { code: 'x = 1' })).toMatchObject({
      description: 'Reviews code',
      messages: [{ role: 'user', content: { type: 'text', text: 'Please review:\nx = 1' } }],
    })
  })

  test('an argument has a name, a description, a required flag, and a title if the revision has titles', async () => {
    proves('T-PROM-015', 'T-PROM-016', 'T-PROM-017', 'T-PROM-018', 'T-PROM-019', 'T-PROM-020', 'T-PROM-021', 'R-PROM-002')
    const server = newServer()
    const input = z.object({ a: z.string().meta({ title: 'The A', description: 'First' }), b: z.string().optional() })
    server.prompt('two', { title: 'Two', input }, () => 'x')
    const { client } = await connectPair(server, { revision })
    const [prompt] = await client.prompts().all()
    const hasTitles = revision >= '2025-06-18'
    expect(prompt).toEqual({
      name: 'two',
      ...(hasTitles ? { title: 'Two' } : {}),
      arguments: [{ name: 'a', ...(hasTitles ? { title: 'The A' } : {}), description: 'First', required: true }, { name: 'b' }],
    })
  })

  test('messages can have every content type and both roles', async () => {
    proves('T-PROM-022', 'T-PROM-023', 'T-PROM-024', 'T-PROM-028', 'T-PROM-029', 'T-PROM-030', 'T-PROM-031', 'T-PROM-032', 'T-PROM-033')
    proves('R-PROM-003', 'R-PROM-009')
    const server = newServer()
    server.prompt('rich', {}, () => [
      { role: 'assistant', content: text('hello', { annotations: { priority: 1 } }) },
      { role: 'user', content: image(new Uint8Array([1]), 'image/png') },
      { role: 'user', content: audio(new Uint8Array([2]), 'audio/wav') },
      { role: 'user', content: embed('file:///a', 'A', 'text/plain') },
      { role: 'user', content: link({ uri: 'file:///b', name: 'b' }) },
    ])
    const { client } = await connectPair(server, { revision })
    const { messages } = await client.prompt('rich')
    expect(messages[0]).toEqual({ role: 'assistant', content: { type: 'text', text: 'hello', annotations: { priority: 1 } } })
    expect(messages[1]?.content).toEqual({ type: 'image', data: 'AQ==', mimeType: 'image/png' })
    expect(messages[2]?.content.type).toBe(revision === '2024-11-05' ? 'resource' : 'audio')
    expect(messages[3]?.content).toEqual({ type: 'resource', resource: { uri: 'file:///a', mimeType: 'text/plain', text: 'A' } })
    expect(messages[4]?.content.type).toBe(revision < '2025-06-18' ? 'text' : 'resource_link')
  })

  test('a prompt that returns only content becomes a user message', async () => {
    const server = newServer()
    server.prompt('one', {}, () => text('a'))
    server.prompt('many', {}, () => [text('a'), text('b')])
    server.prompt('whole', { description: 'kept' }, () => ({ messages: [], description: 'own' }))
    const { client } = await connectPair(server, { revision })
    expect((await client.prompt('one')).messages).toEqual([{ role: 'user', content: { type: 'text', text: 'a' } }])
    expect((await client.prompt('many')).messages).toHaveLength(2)
    expect((await client.prompt('whole')).description).toBe('own')
  })

  test('a wrong name, a missing or a wrong argument is -32602, an internal failure -32603', async () => {
    proves('T-PROM-009', 'T-PROM-035', 'T-PROM-036', 'T-PROM-037', 'T-PROM-038', 'T-PROM-041')
    const server = newServer()
    let runs = 0
    server.prompt('strict', { input: z.object({ day: z.enum(['mon', 'tue']) }) }, () => String(++runs))
    server.prompt('fails', {}, () => {
      throw new Error('secret')
    })
    const { client } = await connectPair(server, { revision, clientIsWrong: true })
    await expect(client.prompt('missing')).rejects.toMatchObject({ code: -32602, message: 'Unknown prompt: missing' })
    await expect(client.prompt('strict')).rejects.toMatchObject({ code: -32602, message: 'Prompt "strict" needs the argument "day"' })
    await expect(client.prompt('strict', { day: 'sun' })).rejects.toMatchObject({ code: -32602 })
    await expect(client.prompt('strict', { day: 5 as never })).rejects.toMatchObject({
      code: -32602,
      message: 'Prompt "strict" argument "day": expected string, got number',
    })
    await expect(client.prompt('fails')).rejects.toMatchObject({ code: -32603, message: expect.not.stringContaining('secret') })
    expect(runs).toBe(0)
  })

  test('a change of the list is announced', async () => {
    proves('T-PROM-013', 'T-PROM-014', 'R-PROM-008')
    const server = newServer()
    const handle = server.prompt('a', {}, () => 'x')
    const { client } = await connectPair(server, { revision, cache: false })
    let changes = 0
    await client.onChange('prompts', () => changes++)
    handle.update({ description: 'new' })
    await settle()
    expect(changes).toBe(1)
    expect((await client.prompts().all())[0]?.description).toBe('new')
    handle.remove()
    await settle()
    expect(changes).toBe(2)
  })
})

test('without prompts there is no capability and no method', async () => {
  proves('T-PROM-040')
  const server = newServer()
  server.tool('t', {}, () => 'x')
  const raw = rawChannel(server)
  const opened = await raw.initialize('2025-11-25')
  expect(opened.result.capabilities).not.toHaveProperty('prompts')
  expect((await raw.ask('prompts/list')).error.code).toBe(-32601)
  expect((await raw.ask('prompts/get', { name: 'x' })).error.code).toBe(-32601)
})

test('invalid definitions are refused', () => {
  const server = newServer()
  server.prompt('a', {}, () => 'x')
  expect(() => server.prompt('a', {}, () => 'x')).toThrow('The prompt "a" is already defined')
  expect(() => server.prompt('', {}, () => 'x')).toThrow('A prompt name must have 1 to 128 characters')
  expect(() => server.prompt('b', { input: z.string() as never }, () => 'x')).toThrow('the input schema must be an object with properties')
  expect(() => server.prompt('c', { complete: { x: () => [] } }, () => 'x')).toThrow('has no argument "x" to complete')
})

test.each(REVISIONS)('a prompt has icons where the revision has them, in %s', async (revision) => {
  proves('R-PROM-001')
  const server = newServer()
  const icons = [{ src: 'https://example.com/i.png', mimeType: 'image/png' }]
  server.prompt('p', { icons }, () => 'x')
  const { client } = await connectPair(server, { revision })
  expect((await client.prompts().all())[0]?.icons).toEqual(revision >= '2025-11-25' ? icons : undefined)
})

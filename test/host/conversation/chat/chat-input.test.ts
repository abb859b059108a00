/** A message of the person with pictures and files, on its way to a real provider. */

import { describe, expect, test } from 'vitest'
import type { ChatContent } from '../../../../src/host/conversation/chat/chat-input.ts'
import { Conversation } from '../../../../src/host/index.ts'
import { openaiCompatible } from '../../../../src/host/language-models/openai-compatible.ts'
import { provider } from '../../../adapters/provider.ts'
import { PICTURE } from '../../../adapters/servers.ts'
import { chat, hosts, spy } from '../../hosts.ts'

const { host: hostWith } = hosts()

const picture: ChatContent = { type: 'image', data: PICTURE, mimeType: 'image/png' }
const file: ChatContent = { type: 'resource', resource: { uri: 'file:///notes.txt', text: 'The code is 1234' } }
const text: ChatContent = { type: 'text', text: 'What is this?' }

test('text, pictures and files reach the provider in their order', async () => {
  const { url, requests } = await provider({ text: 'A red dot' })
  const host = await hostWith({ model: await openaiCompatible({ model: 'stand-in', baseURL: url, apiKey: 'none' }) })
  const conversation = new Conversation()
  const scan: ChatContent = { type: 'resource', resource: { uri: 'file:///scan.png', mimeType: 'image/png', blob: PICTURE } }
  const parts = await chat(host, [text, picture, file, scan], { conversation })
  expect(parts).toContainEqual({ type: 'text', text: 'A red dot' })
  const image = { type: 'image_url', image_url: { url: `data:image/png;base64,${PICTURE}` } }
  expect(requests[0]?.messages.at(-1)).toMatchObject({
    role: 'user',
    content: [{ type: 'text', text: 'What is this?' }, image, { text: 'The file file:///notes.txt:\nThe code is 1234' }, image],
  })
  expect(new Conversation(JSON.parse(JSON.stringify(conversation))).messages).toEqual(conversation.messages)
})

test('a message is copied, so that later changes of the program do not change the conversation', async () => {
  const model = spy()
  const host = await hostWith({ model })
  const conversation = new Conversation()
  const given = { type: 'text' as const, text: 'before' }
  await chat(host, [given], { conversation })
  given.text = 'after'
  expect(conversation.messages[0]?.content).toEqual([{ type: 'text', text: 'before' }])
})

test('a binary file counts like a picture when the conversation is cut to size', async () => {
  const model = spy()
  const host = await hostWith({ model, limits: { chat: { maxContextTokens: 3000 } } })
  const blob = 'AAAA'.repeat(10_000)
  const parts = await chat(host, [{ type: 'resource', resource: { uri: 'file:///a.pdf', mimeType: 'application/pdf', blob } }])
  expect(parts.at(-1)).toMatchObject({ type: 'end', reason: 'done' })
  expect(model.asked).toHaveLength(1)
  const two = await chat(
    host,
    ['a', 'b'].map((name) => ({ type: 'resource', resource: { uri: `file:///${name}.pdf`, mimeType: 'application/pdf', blob } })),
  )
  expect(two.at(-1)).toMatchObject({ type: 'end', reason: 'failed' })
  expect(two[0]).toMatchObject({ error: { code: 'ERR_LIMIT', message: expect.stringContaining('maxContextTokens') } })
})

describe('a message that no model can read is refused before the turn begins', () => {
  test.each<[unknown, string]>([
    [[], 'expected a text or a list of parts in message, got []'],
    [[null], 'expected "text", "image", "audio" or "resource" in part 1.type, got undefined'],
    [[text, { type: 'video' }], 'in part 2.type, got "video"'],
    [[{ type: 'text', text: 3 }], 'expected a text in part 1.text, got 3'],
    [
      [{ ...picture, mimeType: 'image/tiff' }],
      'expected image/png, image/jpeg, image/gif, image/webp in part 1.mimeType, got "image/tiff"',
    ],
    [[{ ...picture, data: 'not base64' }], 'expected bytes in base64 in part 1.data, got "not base64"'],
    [[{ type: 'resource', resource: { text: 'x' } }], 'expected a text in part 1.resource.uri, got undefined'],
    [[{ type: 'resource', resource: { uri: 'x' } }], 'expected a text, or base64 in "blob" in part 1.resource.text, got undefined'],
    [
      [{ type: 'resource', resource: { uri: 'x', blob: 'AAAA', mimeType: 'application/zip' } }],
      'in part 1.resource.mimeType, got "application/zip"',
    ],
  ])('%j', async (message, expected) => {
    const model = spy()
    const host = await hostWith({ model })
    const conversation = new Conversation()
    await expect(chat(host, message as ChatContent[], { conversation })).rejects.toThrow(expected)
    expect(conversation.turn).toBe(0)
    expect(model.asked).toEqual([])
  })
})

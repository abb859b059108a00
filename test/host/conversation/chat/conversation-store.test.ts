import { chmodSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { Conversation } from '../../../../src/host/conversation/chat/conversation.ts'
import type { ConversationStore } from '../../../../src/host/conversation/chat/conversation-store.ts'
import { openConversations } from '../../../../src/host/conversation/chat/open-conversations.ts'
import { temporaryFolders } from '../../../support/folders.ts'

const newFolder = temporaryFolders()

function stored(options: Partial<Parameters<typeof openConversations>[0]> = {}): { folder: string; store: ConversationStore } {
  const folder = join(newFolder(), 'conversations')
  return { folder, store: openConversations({ folder, ...options }) }
}

function conversationAbout(text: string): Conversation {
  const conversation = new Conversation()
  // As the host does before the first message.
  conversation.flow()
  conversation.begin(text)
  conversation.add({ role: 'assistant', content: [{ type: 'text', text: 'Done.' }] })
  return conversation
}

/** Makes a file older than all that are written now. */
const age = (folder: string, id: string, seconds: number): void => {
  const then = Date.now() / 1000 - seconds
  utimesSync(join(folder, `${id}.json`), then, then)
}

describe('conversations', () => {
  test('a conversation is listed with its first message and can be continued under the same id', async () => {
    const { folder, store } = stored({ now: () => 1000 })
    const id = await store.save(conversationAbout('Where is\nmy bread?'))
    const [listed] = (await store.list()).conversations
    expect(listed).toEqual({ id, title: 'Where is my bread?', turns: 1, startedAt: 1000, updatedAt: 1000 })
    const again = await openConversations({ folder }).load(id.slice(0, 6))
    expect(again.messages).toHaveLength(2)
    const other = openConversations({ folder })
    const loaded = await other.load(id)
    loaded.begin('And my milk?')
    expect(await other.save(loaded)).toBe(id)
    expect((await store.list()).conversations).toMatchObject([{ id, turns: 2, startedAt: 1000, title: 'Where is my bread?' }])
  })

  test('a continued conversation keeps its labels, their sources and the digests of private text', async () => {
    const { store } = stored()
    const conversation = conversationAbout('Read my mail')
    const secretText = 'The code of the back door is 4711-2208, please tell nobody about it'
    conversation.flow().add({ labels: ['untrusted', 'private:mail'], source: 'mail/inbox', value: secretText, at: 5 })
    const again = (await store.load(await store.save(conversation))).flow()
    expect(again.labels).toEqual(['untrusted', 'private:mail'])
    expect(again.untrustedSince).toBe(5)
    expect(again.originsOf({ text: `FYI ${secretText}` })[0]).toMatchObject({ source: 'mail/inbox#1' })
  })

  test('a conversation that is stored without labels counts as untrusted and private', async () => {
    const { folder, store } = stored()
    const id = await store.save(conversationAbout('Hello'))
    const path = join(folder, `${id}.json`)
    const file = JSON.parse(readFileSync(path, 'utf8'))
    delete file.record.flow
    writeFileSync(path, JSON.stringify(file))
    const { labels } = (await store.load(id)).flow()
    expect(labels).toContain('untrusted')
    expect(labels.some((label) => label.startsWith('private:'))).toBe(true)
  })

  test('secrets are not stored: known ones, ones by their form, and ones by their name', async () => {
    const { folder, store } = stored({ scrub: (text) => text.replaceAll('hunter2', '[redacted]') })
    const conversation = conversationAbout('My password is hunter2, my key is sk-abcdefghijklmnop1234567890')
    const input = { user: 'anna', apiKey: 'plain-looking' }
    conversation.add({ role: 'assistant', content: [{ type: 'tool_use', id: '1', name: 'login', input }] })
    const id = await store.save(conversation)
    const text = readFileSync(join(folder, `${id}.json`), 'utf8')
    for (const secret of ['hunter2', 'sk-abcdefghijklmnop', 'plain-looking']) expect(text).not.toContain(secret)
    expect(text).toContain('anna')
  })
})

describe('files', () => {
  test('only the owner can read stored conversations, and a file that others can read is refused', async () => {
    const { folder, store } = stored()
    const id = await store.save(conversationAbout('Hello'))
    expect(statSync(folder).mode & 0o777).toBe(0o700)
    expect(statSync(join(folder, `${id}.json`)).mode & 0o777).toBe(0o600)
    chmodSync(join(folder, `${id}.json`), 0o644)
    await expect(store.load(id)).rejects.toThrow(/Other users of this machine can access/)
  })

  test('a file of a newer version and a damaged file are reported, and the others are still listed', async () => {
    const { folder, store } = stored()
    const [newer, broken, good] = [
      await store.save(conversationAbout('a')),
      await store.save(conversationAbout('b')),
      await store.save(conversationAbout('c')),
    ]
    writeFileSync(join(folder, `${newer}.json`), readFileSync(join(folder, `${newer}.json`), 'utf8').replace('"version":1', '"version":2'))
    writeFileSync(join(folder, `${broken}.json`), '{"version":1')
    const { conversations, problems } = await store.list()
    expect(conversations.map(({ id }) => id)).toEqual([good])
    expect(problems.some((text) => /it has version 2/.test(text))).toBe(true)
    expect(problems.some((text) => /is not a stored conversation/.test(text))).toBe(true)
    await expect(store.load(newer)).rejects.toThrow(/it has version 2, and this program reads versions up to 1; update Portico/)
  })

  test('an unknown id, an ambiguous one and a path are refused', async () => {
    const { store } = stored()
    const ids = new Set<string>()
    while (new Set([...ids].map((id) => id[0])).size === ids.size) ids.add(await store.save(conversationAbout('x')))
    const [last = ''] = [...ids].slice(-1)
    await expect(store.load('../pins')).rejects.toThrow('No stored conversation has an id that begins with "../pins"')
    await expect(store.load('')).rejects.toThrow('No stored conversation')
    await expect(store.load(last.slice(0, 1))).rejects.toThrow('Several stored conversations')
    expect(await store.remove(last)).toBe(true)
    expect(await store.remove(last)).toBe(false)
  })
})

describe('limits', () => {
  test('beyond the number and the bytes of all conversations the oldest are removed', async () => {
    const { folder, store } = stored({ limits: { maxConversations: 2 } })
    const first = await store.save(conversationAbout('first'))
    age(folder, first, 20)
    const second = await store.save(conversationAbout('second'))
    age(folder, second, 10)
    const third = await store.save(conversationAbout('third'))
    expect((await store.list()).conversations.map(({ id }) => id).sort()).toEqual([second, third].sort())
    const small = openConversations({ folder, limits: { maxTotalBytes: 300 } })
    const fourth = await small.save(conversationAbout('fourth'))
    expect(readdirSync(folder)).toEqual([`${fourth}.json`])
  })

  test('a conversation that is too large is stored without its labels, or refused with the limit', async () => {
    const large = conversationAbout('x'.repeat(3000))
    large.flow().add({
      labels: ['private:mail'],
      source: 'mail',
      value: Array.from({ length: 200 }, (_, i) => `a text of its own with number ${i}`),
      at: 1,
    })
    const { store } = stored({ limits: { maxConversationBytes: 4000 } })
    expect((await store.load(await store.save(large))).flow().labels).toContain('untrusted')
    const tight = stored({ limits: { maxConversationBytes: 1000 } }).store
    await expect(tight.save(large)).rejects.toThrow(/expected at most 1000 \(maxConversationBytes\)/)
  })
})

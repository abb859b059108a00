/** Stores each conversation in a file that only its owner can read, without secrets. */

import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { isObject } from '../../../base/json.ts'
import { redact } from '../../../base/text/redact.ts'
import { type FileFormat, readFormat } from '../../../files/file-format.ts'
import { kept, privateFolder, readPrivate, removePrivate, sweep, writePrivate } from '../../../files/private-file.ts'
import { McpError } from '../../../protocol/errors.ts'
import { withDefaults } from '../../../protocol/with-defaults.ts'
import type { ModelMessage } from '../../language-models/language-model.ts'
import { SHORT_ID, shortId } from '../../storage/short-id.ts'
import { Conversation, type ConversationRecord } from './conversation.ts'
import {
  type ConversationStore,
  type ConversationStoreLimits,
  type ConversationStoreOptions,
  DEFAULT_CONVERSATION_STORE_LIMITS,
  type StoredConversation,
} from './conversation-store.ts'

const CONVERSATION_FORMAT: FileFormat = { version: 1, upgrades: [(file) => file] }
const END = '.json'
const MAX_TITLE = 80
const LEFT_OVER_MS = 60_000

interface StoredFile extends StoredConversation {
  version: number
  record: ConversationRecord
}

export function conversationFiles({ folder, scrub = (text) => text, limits, now = Date.now }: ConversationStoreOptions): ConversationStore {
  const { maxConversations, maxConversationBytes, maxTotalBytes } = withDefaults(DEFAULT_CONVERSATION_STORE_LIMITS, limits)
  /** What this process knows about conversations that it saved or loaded. */
  const known = new WeakMap<Conversation, Pick<StoredConversation, 'id' | 'startedAt' | 'title'>>()
  const fileOf = (id: string): string => join(folder, `${id}${END}`)

  const ids = async (): Promise<string[]> => {
    await privateFolder(folder)
    const names = await kept(folder, () => readdir(folder))
    return names
      .filter((name) => name.endsWith(END))
      .map((name) => name.slice(0, -END.length))
      .filter((id) => SHORT_ID.test(id))
  }
  const read = async (id: string): Promise<StoredFile | undefined> => {
    const bytes = await readPrivate(fileOf(id), maxConversationBytes)
    return bytes && checkFile(fileOf(id), id, bytes)
  }
  const idLike = async (typed: string): Promise<string> => {
    const found = (await ids()).filter((id) => typed !== '' && id.startsWith(typed))
    if (found.length === 1) return found[0] as string
    const why = found.length === 0 ? 'No stored conversation has' : 'Several stored conversations have'
    throw new McpError('ERR_INVALID_PARAMS', `${why} an id that begins with ${JSON.stringify(typed)}`)
  }

  return {
    list: async () => {
      const problems: string[] = []
      const found: StoredConversation[] = []
      for (const id of await ids()) {
        try {
          const file = await read(id)
          if (file) found.push(headerOf(file))
        } catch (error) {
          problems.push((error as Error).message)
        }
      }
      return { conversations: found.sort((one, other) => other.updatedAt - one.updatedAt), problems }
    },
    save: async (conversation) => {
      await privateFolder(folder)
      await sweep(folder, LEFT_OVER_MS)
      const record = withoutSecrets(conversation.toJSON(), scrub)
      const before = known.get(conversation) ?? { id: shortId(), startedAt: now(), title: titleOf(record.messages) }
      known.set(conversation, before)
      const file: StoredFile = { version: CONVERSATION_FORMAT.version, ...before, turns: record.turn, updatedAt: now(), record }
      await writePrivate(fileOf(before.id), bytesOf(file, maxConversationBytes))
      await prune(folder, { keep: before.id, maxConversations, maxTotalBytes })
      return before.id
    },
    load: async (typed) => {
      const id = await idLike(typed)
      const file = await read(id)
      if (!file) throw new McpError('ERR_INVALID_PARAMS', `The conversation ${id} no longer exists`)
      const conversation = new Conversation(file.record)
      // Fails now if the labels are invalid.
      conversation.flow()
      known.set(conversation, { id, startedAt: file.startedAt, title: file.title })
      return conversation
    },
    remove: async (id) => {
      if (!(await ids()).includes(id)) return false
      await removePrivate(fileOf(id))
      return true
    },
  }
}

const headerOf = ({ id, title, turns, startedAt, updatedAt }: StoredFile): StoredConversation => ({
  id,
  title,
  turns,
  startedAt,
  updatedAt,
})

/** Known secrets, and values that look like secrets or have the name of one, are not stored. Labels and digests stay as they are. */
function withoutSecrets(record: ConversationRecord, scrub: (text: string) => string): ConversationRecord {
  const scrubbed: unknown = JSON.parse(JSON.stringify(record.messages), (_key, value) => (typeof value === 'string' ? scrub(value) : value))
  return { ...record, messages: redact(scrubbed) as ModelMessage[] }
}

function titleOf(messages: readonly ModelMessage[]): string {
  const first = messages.find(({ role }) => role === 'user')
  const text = [first?.content ?? []]
    .flat()
    .map((block) => (block.type === 'text' ? block.text : ''))
    .join(' ')
    .replaceAll(/\s+/g, ' ')
    .trim()
  return text.length > MAX_TITLE ? `${text.slice(0, MAX_TITLE)}…` : text
}

/** Without room for the labels the conversation is stored without them: it then counts as untrusted and private. */
function bytesOf(file: StoredFile, maxConversationBytes: number): Uint8Array {
  const encode = (value: StoredFile): Uint8Array => new TextEncoder().encode(`${JSON.stringify(value)}\n`)
  const whole = encode(file)
  if (whole.byteLength <= maxConversationBytes) return whole
  const { flow: _flow, ...record } = file.record
  const smaller = encode({ ...file, record })
  if (smaller.byteLength <= maxConversationBytes) return smaller
  throw new McpError(
    'ERR_LIMIT',
    `The conversation is not stored: it has ${smaller.byteLength} bytes, expected at most ${maxConversationBytes} (maxConversationBytes)`,
  )
}

/** Removes the oldest files beyond the limits, but never the one that was just written. */
async function prune(
  folder: string,
  { keep, maxConversations, maxTotalBytes }: { keep: string } & Omit<ConversationStoreLimits, 'maxConversationBytes'>,
): Promise<void> {
  const names = (await kept(folder, () => readdir(folder))).filter((name) => name.endsWith(END))
  const files = await Promise.all(
    names.map(async (name) => {
      const { mtimeMs, size } = await stat(join(folder, name)).catch(() => ({ mtimeMs: 0, size: 0 }))
      return { name, size, age: name === `${keep}${END}` ? Number.POSITIVE_INFINITY : mtimeMs }
    }),
  )
  files.sort((one, other) => other.age - one.age)
  let bytes = 0
  for (const [at, { name, size }] of files.entries()) {
    bytes += size
    if (at > 0 && (at >= maxConversations || bytes > maxTotalBytes)) await removePrivate(join(folder, name))
  }
}

function checkFile(path: string, id: string, bytes: Uint8Array): StoredFile {
  const invalid = (what: string): McpError => new McpError('ERR_STORE', `${path} is not a stored conversation: ${what}`)
  let value: unknown
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch (error) {
    throw invalid((error as Error).message)
  }
  const data = formatted(value, invalid)
  const { title, turns, startedAt, updatedAt, record } = data
  const isHeader = data.id === id && typeof title === 'string' && [turns, startedAt, updatedAt].every(Number.isSafeInteger)
  if (!isHeader) throw invalid('expected id, title, turns, startedAt and updatedAt')
  if (!isObject(record) || !Array.isArray(record.messages) || !record.messages.every(isMessage) || !Number.isSafeInteger(record.turn))
    throw invalid('expected a record with messages and turn')
  return data as unknown as StoredFile
}

function formatted(value: unknown, invalid: (what: string) => McpError): Record<string, unknown> {
  try {
    const { data, isOutdated } = readFormat(value, CONVERSATION_FORMAT)
    if (isObject(data) && !isOutdated) return data
  } catch (error) {
    throw invalid((error as Error).message)
  }
  throw invalid('expected an object with a version')
}

const isMessage = (value: unknown): boolean =>
  isObject(value) && (value.role === 'user' || value.role === 'assistant') && typeof value.content === 'object' && value.content !== null

/**
 * Stores questions and answers as files of one private folder. Both sides sign with a key in that folder, and an answer contains the
 * digest of its question, so that a foreign file cannot answer one.
 */

import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { link, readdir, rm, stat, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { asText } from '../../../base/as-text.ts'
import { isObject } from '../../../base/json.ts'
import { type LockLimits, type ProcessMark, processMark, withLockFile } from '../../../files/lock-file.ts'
import { codeOf, kept, privateFolder, readPrivate, removePrivate, sweep, writePrivate } from '../../../files/private-file.ts'
import { McpError } from '../../../protocol/errors.ts'
import { canonicalJson } from '../../../protocol/model/digest-json.ts'
import { digestOf } from '../../model/digest.ts'
import type { Answer, Question } from '../../model/question.ts'

/** The options `limits` of an inbox. */
export interface InboxLimits {
  /** Maximum number of questions in the folder. */
  parkedQuestions: number
}

export const DEFAULT_INBOX_LIMITS: InboxLimits = { parkedQuestions: 100 }

/** Limits that suit every inbox. Tests make them small. */
export interface FixedInboxLimits extends LockLimits {
  /** Maximum size of a question, or of an answer with its edits. The largest messages of servers fit. */
  fileBytes: number
  /** A question counts as abandoned when its process gave no sign of life for this long: far longer than `pollMs`. */
  silentMs: number
  /** How often the folder is checked, for systems that do not report changes. A person does not notice the delay. */
  pollMs: number
}

export const FIXED_INBOX_LIMITS: FixedInboxLimits = {
  fileBytes: 4 * 1024 * 1024,
  silentMs: 15_000,
  pollMs: 250,
  lockTimeoutMs: 15_000,
  lockStaleMs: 10_000,
}

export type AllInboxLimits = InboxLimits & FixedInboxLimits

export interface Parked {
  question: Question
  asker: ProcessMark
  /** Last sign of life of the asking process. */
  seenAt: number
  hasAnswer: boolean
}

const QUESTION = '.question.json'
const ANSWER = '.answer.json'
const LEFT_OVER_MS = 60_000
/** File names are made of ids. */
const ID = /^[\w-]{8,128}$/

export interface InboxFiles {
  readonly folder: string
  ids(): Promise<string[]>
  park(question: Question): Promise<void>
  /** Undefined when there is no validly signed question. */
  parked(id: string): Promise<Parked | undefined>
  giveSign(id: string): Promise<void>
  /** False when there is an answer already. */
  putAnswer(question: Question, answer: Answer): Promise<boolean>
  /** Undefined without an answer; `stray` for a file that does not answer this question. */
  answerTo(question: Question): Promise<Answer | 'stray' | undefined>
  removeQuestion(id: string): Promise<void>
  removeAnswer(id: string): Promise<void>
}

export async function openInboxFiles(folder: string, limits: AllInboxLimits): Promise<InboxFiles> {
  await privateFolder(folder)
  await sweep(folder, LEFT_OVER_MS)
  await sweepAnswers(folder)
  const key = await sharedKey(folder, limits)
  const at = (id: string, end: string): string => {
    if (!ID.test(id))
      throw new McpError('ERR_INVALID_PARAMS', 'Expected a question id of 8 to 128 letters, digits, hyphens and underscores')
    return join(folder, `${id}${end}`)
  }
  const sign = (payload: unknown): Buffer => {
    const bytes = Buffer.from(JSON.stringify({ payload, mac: macOf(key, payload).toString('hex') }))
    if (bytes.length <= limits.fileBytes) return bytes
    throw new McpError('ERR_LIMIT', `A question or an answer has ${bytes.length} bytes; the limit is ${limits.fileBytes} (fileBytes)`)
  }
  const readSigned = async (file: string): Promise<Record<string, unknown> | 'stray' | undefined> => {
    const bytes = await readPrivate(file, limits.fileBytes)
    return bytes && (signedPayload(key, bytes) ?? 'stray')
  }

  return {
    folder,
    ids: async () =>
      (await kept(folder, () => readdir(folder))).filter((name) => name.endsWith(QUESTION)).map((name) => name.slice(0, -QUESTION.length)),
    park: async (question) => {
      const file = at(question.id, QUESTION)
      const bytes = sign({ question, asker: processMark() })
      await withLockFile(join(folder, 'parking.lock'), limits, async () => {
        const parked = (await readdir(folder)).filter((name) => name.endsWith(QUESTION)).length
        if (parked >= limits.parkedQuestions)
          throw new McpError('ERR_LIMIT', `${folder} contains ${limits.parkedQuestions} questions already (parkedQuestions)`)
        await writePrivate(file, bytes)
      })
    },
    parked: async (id) => {
      const file = at(id, QUESTION)
      const payload = await readSigned(file)
      if (payload === undefined || payload === 'stray') return undefined
      const { question, asker } = payload as { question: Question; asker: ProcessMark }
      // File names are not signed: a copied question under another name must not get an answer.
      if (question.id !== id) return undefined
      const seen = await timeOf(file)
      return seen === undefined ? undefined : { question, asker, seenAt: seen, hasAnswer: (await timeOf(at(id, ANSWER))) !== undefined }
    },
    giveSign: (id) => utimes(at(id, QUESTION), new Date(), new Date()),
    putAnswer: async (question, answer) => {
      const file = at(question.id, ANSWER)
      const draft = `${file}.${randomBytes(6).toString('hex')}.tmp`
      await writePrivate(draft, sign({ id: question.id, digest: digestOf(question), answer }))
      try {
        // Unlike a rename, a link fails when the name exists.
        await link(draft, file)
        return true
      } catch (error) {
        if (codeOf(error) === 'EEXIST') return false
        throw new McpError('ERR_STORE', `${file} cannot be written (${codeOf(error)})`, { cause: error })
      } finally {
        await rm(draft, { force: true })
      }
    },
    answerTo: async (question) => {
      const payload = await readSigned(at(question.id, ANSWER))
      if (payload === undefined || payload === 'stray') return payload
      const isForIt = payload.id === question.id && payload.digest === digestOf(question) && isAnswer(payload.answer)
      return isForIt ? (payload.answer as Answer) : 'stray'
    },
    removeQuestion: (id) => removePrivate(at(id, QUESTION)),
    removeAnswer: (id) => removePrivate(at(id, ANSWER)),
  }
}

/** Removes late answers of processes that ended before they could withdraw them. */
async function sweepAnswers(folder: string): Promise<void> {
  const names = new Set(await kept(folder, () => readdir(folder)))
  for (const name of names) {
    if (!name.endsWith(ANSWER) || names.has(name.replace(ANSWER, QUESTION))) continue
    const file = join(folder, name)
    if (Date.now() - ((await timeOf(file)) ?? Number.POSITIVE_INFINITY) > LEFT_OVER_MS) await removePrivate(file)
  }
}

async function sharedKey(folder: string, limits: LockLimits): Promise<Uint8Array> {
  const file = join(folder, 'inbox.key')
  return withLockFile(`${file}.lock`, limits, async () => {
    const there = await readPrivate(file, 1024)
    if (there?.length === 32) return there
    if (there) throw new McpError('ERR_STORE', `${file} is not an inbox key: expected 32 bytes, got ${there.length}`)
    const made = randomBytes(32)
    await writePrivate(file, made)
    return made
  })
}

function signedPayload(key: Uint8Array, bytes: Uint8Array): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(bytes).toString('utf8'))
    if (!isObject(value) || !isObject(value.payload) || typeof value.mac !== 'string') return undefined
    const [given, expected] = [Buffer.from(value.mac, 'hex'), macOf(key, value.payload)]
    return given.length === expected.length && timingSafeEqual(given, expected) ? value.payload : undefined
  } catch {
    return undefined
  }
}

const macOf = (key: Uint8Array, payload: unknown): Buffer => createHmac('sha256', key).update(canonicalJson(payload)).digest()

const isAnswer = (value: unknown): value is Answer => isObject(value) && ['allow', 'deny', 'cancel'].includes(asText(value.kind))

async function timeOf(file: string): Promise<number | undefined> {
  try {
    return (await stat(file)).mtimeMs
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw new McpError('ERR_STORE', `${file} cannot be looked at (${codeOf(error)})`, { cause: error })
  }
}

/** The inbox: an asker that parks questions in a folder, and the other side, which lists and answers them. */

import { watch } from 'node:fs'
import { isObject } from '../../../base/json.ts'
import { isGone } from '../../../files/lock-file.ts'
import { McpError } from '../../../protocol/errors.ts'
import { withDefaults } from '../../../protocol/with-defaults.ts'
import type { Answer, Asker, Question } from '../../model/question.ts'
import { checkForm } from './check-form.ts'
import {
  type AllInboxLimits,
  DEFAULT_INBOX_LIMITS,
  FIXED_INBOX_LIMITS,
  type FixedInboxLimits,
  type InboxFiles,
  type InboxLimits,
  openInboxFiles,
  type Parked,
} from './inbox-files.ts'
import { titleOf } from './title.ts'

export interface InboxOptions {
  /** Must be used by nothing else and readable by its owner only. */
  folder: string
  limits?: Partial<InboxLimits>
  /** Called when the folder contained an invalid answer. */
  onWarning?(text: string): void
}

/**
 * An asker that parks each question in a folder and waits for the answer. A withdrawn question is removed again.
 *
 * @example
 * const host = await createHost({ ask: inboxAsker({ folder: '/home/ada/.portico/inbox' }) })
 */
export const inboxAsker = (options: InboxOptions): Asker => inboxAskerWith(options, FIXED_INBOX_LIMITS)

export function inboxAskerWith({ folder, limits, onWarning }: InboxOptions, fixed: FixedInboxLimits): Asker {
  const all = { ...withDefaults(DEFAULT_INBOX_LIMITS, limits), ...fixed }
  return {
    ask: async (question, signal) => {
      signal.throwIfAborted()
      const files = await openInboxFiles(folder, all)
      await clearDead(files, all)
      try {
        await files.park(question)
        return await answerOf(files, question, all, signal, onWarning)
      } finally {
        // The question goes first: an answer without a question came too late, and `answer` reports that.
        await files.removeQuestion(question.id).catch(() => {})
        await files.removeAnswer(question.id).catch(() => {})
      }
    },
  }
}

async function answerOf(
  files: InboxFiles,
  question: Question,
  { pollMs, silentMs }: FixedInboxLimits,
  signal: AbortSignal,
  onWarning: ((text: string) => void) | undefined,
): Promise<Answer> {
  const look = async (): Promise<Answer | undefined> => {
    const answer = await files.answerTo(question)
    if (answer !== 'stray') {
      if (answer) await files.removeAnswer(question.id)
      return answer
    }
    onWarning?.(`A file in ${files.folder} was not a valid answer and was removed`)
    await files.removeAnswer(question.id)
    return undefined
  }
  const undo: (() => void)[] = []
  try {
    return await new Promise<Answer>((resolve, reject) => {
      let isLooking = false
      const onChange = (): void => {
        if (isLooking) return
        isLooking = true
        look()
          .then((answer) => answer && resolve(answer), reject)
          .finally(() => {
            isLooking = false
          })
      }
      const onAbort = (): void => reject(signal.reason)
      const onExpiry = (): void => reject(new McpError('ERR_CONSENT', `The question was not answered in time: ${titleOf(question)}`))
      const beat = setInterval(() => void files.giveSign(question.id).catch(() => {}), silentMs / 4)
      const expiry = setTimeout(onExpiry, Math.min(Math.max(question.expiresAt - Date.now(), 0), 2 ** 31 - 1))
      signal.addEventListener('abort', onAbort, { once: true })
      undo.push(
        watchFolder(files.folder, pollMs, onChange),
        () => clearInterval(beat),
        () => clearTimeout(expiry),
        () => signal.removeEventListener('abort', onAbort),
      )
      if (signal.aborted) onAbort()
      onChange()
    })
  } finally {
    for (const each of undo) each()
  }
}

/** Removes expired and abandoned questions when the inbox is full. */
async function clearDead(files: InboxFiles, limits: AllInboxLimits): Promise<void> {
  const ids = await files.ids()
  if (ids.length < limits.parkedQuestions) return
  for (const id of ids) {
    const parked = await files.parked(id)
    const state = parked ? stateOf(parked, limits) : 'abandoned'
    if (state === 'abandoned' || state === 'expired') await removeBoth(files, id)
  }
}

export type ParkedState = 'open' | 'answered' | 'abandoned' | 'expired'

export interface ParkedQuestion {
  question: Question
  /** `abandoned`: the process that asked has ended. `answered`: the answer has not been fetched yet. */
  state: ParkedState
}

/** The answering side of an inbox. */
export interface Inbox {
  /** Oldest first. */
  list(): Promise<ParkedQuestion[]>
  get(id: string): Promise<ParkedQuestion | undefined>
  /**
   * The first answer counts.
   *
   * @throws McpError ERR_CONSENT when the question is gone or answered already; ERR_ANSWER_INVALID when the answer does not fit the form:
   * the question stays open
   */
  answer(id: string, answer: Answer): Promise<void>
  /** Removes a question that no process waits for. */
  discard(id: string): Promise<void>
  /** Calls `onChange` when something may have changed. Returns the function that ends it. */
  watch(onChange: () => void): () => void
}

/**
 * Opens the inbox in a folder, to list and answer its questions.
 *
 * @example
 * const inbox = await openInbox({ folder })
 * for (const { question } of await inbox.list()) await inbox.answer(question.id, { kind: 'deny' })
 */
export async function openInbox({ folder, limits }: Omit<InboxOptions, 'onWarning'>): Promise<Inbox> {
  const all = { ...withDefaults(DEFAULT_INBOX_LIMITS, limits), ...FIXED_INBOX_LIMITS }
  const files = await openInboxFiles(folder, all)
  const get = async (id: string): Promise<ParkedQuestion | undefined> => {
    const parked = await files.parked(id)
    return parked && { question: parked.question, state: stateOf(parked, all) }
  }
  return {
    get,
    list: async () => {
      const found = await Promise.all((await files.ids()).map((id) => get(id).catch(() => undefined)))
      return found.filter((each) => each !== undefined).sort((one, other) => one.question.askedAt - other.question.askedAt)
    },
    answer: async (id, answer) => {
      const parked = await get(id)
      if (!parked) throw new McpError('ERR_CONSENT', `No question ${id}: it was answered, withdrawn or never asked`)
      if (parked.state !== 'open') throw new McpError('ERR_CONSENT', `The question ${id} cannot be answered: ${WHY[parked.state]}`)
      checkScope(parked.question, answer)
      await checkFilledIn(parked.question, answer)
      if (!(await files.putAnswer(parked.question, { by: 'inbox', ...answer })))
        throw new McpError('ERR_CONSENT', `The question ${id} cannot be answered: ${WHY.answered}`)
      const isTooLate = (await files.parked(id)) === undefined && (await files.answerTo(parked.question)) !== undefined
      if (!isTooLate) return
      await files.removeAnswer(id)
      throw new McpError('ERR_CONSENT', `The question ${id} was withdrawn while it was answered`)
    },
    discard: async (id) => {
      const parked = await get(id)
      if (parked?.state === 'open' || parked?.state === 'answered')
        throw new McpError('ERR_CONSENT', `A process waits for the answer to ${id}; deny it instead`)
      await removeBoth(files, id)
    },
    watch: (onChange) => watchFolder(folder, all.pollMs, onChange),
  }
}

const WHY = {
  answered: 'it was answered already',
  abandoned: 'the process that asked it has ended',
  expired: 'it has expired',
} as const

function stateOf({ question, asker, seenAt, hasAnswer }: Parked, { silentMs }: FixedInboxLimits): ParkedState {
  if (isGone(asker) || Date.now() - seenAt > silentMs) return 'abandoned'
  if (hasAnswer) return 'answered'
  return Date.now() > question.expiresAt ? 'expired' : 'open'
}

/** An approval must not last longer than offered. */
function checkScope({ scopes, always }: Question, answer: Answer): void {
  if (answer.kind !== 'allow' || answer.scope === 'once' || scopes.includes(answer.scope) || always?.scope === answer.scope) return
  throw new McpError('ERR_INVALID_PARAMS', `Expected one of the offered scopes (${scopes.join(', ') || 'once'}), got ${answer.scope}`)
}

/** An answer that does not fit the form would end the call or the task that asks. */
async function checkFilledIn({ subject }: Question, answer: Answer): Promise<void> {
  if (subject.kind !== 'form' || answer.kind !== 'allow') return
  const { edited = subject.defaults } = answer
  const fault = isObject(edited) ? await checkForm(subject.schema, edited) : `expected an object, got ${JSON.stringify(edited)}`
  if (fault !== undefined) throw new McpError('ERR_ANSWER_INVALID', `The answer does not fit the form: ${fault}`)
}

async function removeBoth(files: InboxFiles, id: string): Promise<void> {
  await files.removeQuestion(id)
  await files.removeAnswer(id)
}

/**
 * Calls `onChange` when the folder may have changed: on notice of the operating system, and every `pollMs`. Returns the function that
 * ends it.
 */
function watchFolder(folder: string, pollMs: number, onChange: () => void): () => void {
  const timer = setInterval(onChange, pollMs)
  let stop = (): void => {}
  try {
    const watcher = watch(folder, onChange)
    // Watching can fail, for example on network drives or with too many watches. The timer remains.
    watcher.on('error', () => watcher.close())
    stop = () => watcher.close()
  } catch {
    // Watching can fail at once, too.
  }
  return () => {
    clearInterval(timer)
    stop()
  }
}

/** Parked questions, from both sides: an asker that waits for whoever answers, and the inbox in which they are answered. */

import { isGone } from '../../../files/lock-file.ts'
import { McpError } from '../../../protocol/errors.ts'
import { withDefaults } from '../../../protocol/with-defaults.ts'
import type { Answer, Asker, Question } from '../../model/question.ts'
import { watchFolder } from './folder-watch.ts'
import { DEFAULT_INBOX_LIMITS, type InboxFiles, type InboxLimits, openInboxFiles, type Parked } from './inbox-files.ts'
import { titleOf } from './subject-lines.ts'

export interface InboxOptions {
  /** Of its own, and open to nobody else. */
  folder: string
  limits?: Partial<InboxLimits>
  /** Something lay in the folder that is no answer. */
  onWarning?(text: string): void
}

/** Parks each question and waits for the answer. A question that nobody needs answered any more is taken out again. */
export function inboxAsker({ folder, limits, onWarning }: InboxOptions): Asker {
  const all = withDefaults(DEFAULT_INBOX_LIMITS, limits)
  return {
    ask: async (question, signal) => {
      signal.throwIfAborted()
      const files = await openInboxFiles(folder, all)
      await clearDead(files, all)
      try {
        await files.park(question)
        return await answerOf(files, question, all, signal, onWarning)
      } finally {
        // In this order, so that who answers can tell: an answer without its question came too late.
        await files.removeQuestion(question.id).catch(() => {})
        await files.removeAnswer(question.id).catch(() => {})
      }
    },
  }
}

async function answerOf(
  files: InboxFiles,
  question: Question,
  { pollMs, silentMs }: InboxLimits,
  signal: AbortSignal,
  onWarning: ((text: string) => void) | undefined,
): Promise<Answer> {
  const look = async (): Promise<Answer | undefined> => {
    const answer = await files.answerTo(question)
    if (answer !== 'stray') {
      if (answer) await files.removeAnswer(question.id)
      return answer
    }
    onWarning?.(`A file in ${files.folder} looked like an answer and was none; it was removed`)
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
      const onExpiry = (): void =>
        reject(new McpError('ERR_CONSENT', `Nobody answered in time: ${titleOf(question.server.id, question.subject)}`))
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

/** Makes room: what nobody waits for any more has no place in the inbox for ever. */
async function clearDead(files: InboxFiles, limits: InboxLimits): Promise<void> {
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
  /** `abandoned`: the process that asked is gone. `answered`: and not yet fetched by it. */
  state: ParkedState
}

/** However it is reached: from a command, a page, or another machine. */
export interface Inbox {
  /** The oldest first. */
  list(): Promise<ParkedQuestion[]>
  get(id: string): Promise<ParkedQuestion | undefined>
  /** The first answer holds. ERR_CONSENT when there is nothing to answer any more, or somebody else was first. */
  answer(id: string, answer: Answer): Promise<void>
  /** Takes a question out that nobody waits for. */
  discard(id: string): Promise<void>
  /** Calls when something may have changed; returns what ends it. */
  watch(onChange: () => void): () => void
}

/** The questions that wait in a folder, for whoever answers them. */
export async function openInbox({ folder, limits }: Omit<InboxOptions, 'onWarning'>): Promise<Inbox> {
  const all = withDefaults(DEFAULT_INBOX_LIMITS, limits)
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
      if (!parked) throw new McpError('ERR_CONSENT', `There is no question ${id} to answer: it was answered, withdrawn, or never asked`)
      if (parked.state !== 'open') throw new McpError('ERR_CONSENT', `The question ${id} cannot be answered: ${WHY[parked.state]}`)
      checkScope(parked.question, answer)
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
        throw new McpError('ERR_CONSENT', `Somebody waits for the answer to ${id}; say no to it instead`)
      await removeBoth(files, id)
    },
    watch: (onChange) => watchFolder(folder, all.pollMs, onChange),
  }
}

const WHY = {
  answered: 'somebody else has answered it',
  abandoned: 'the process that asked it is gone',
  expired: 'the time for it is over',
} as const

function stateOf({ question, asker, seenAt, hasAnswer }: Parked, { silentMs }: InboxLimits): ParkedState {
  if (isGone(asker) || Date.now() - seenAt > silentMs) return 'abandoned'
  if (hasAnswer) return 'answered'
  return Date.now() > question.expiresAt ? 'expired' : 'open'
}

/** A yes may not hold for longer than was offered. */
function checkScope({ scopes }: Question, answer: Answer): void {
  if (answer.kind !== 'allow' || answer.scope === 'once' || scopes.includes(answer.scope)) return
  throw new McpError('ERR_INVALID_PARAMS', `A yes to this may hold for ${scopes.join(', ') || 'once'}, and not for ${answer.scope}`)
}

async function removeBoth(files: InboxFiles, id: string): Promise<void> {
  await files.removeQuestion(id)
  await files.removeAnswer(id)
}

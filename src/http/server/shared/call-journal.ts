/** What a restartable call has done: its steps, questions and answers. The store keeps it with the stream of the call. */

import { toBase64Url } from '../../../base/bytes.ts'
import { comparableJson } from '../../../base/canonical-json.ts'
import type { ErrorObject, Params } from '../../../jsonrpc/message.ts'
import { RemoteError } from '../../../jsonrpc/remote-error.ts'
import { McpError } from '../../../protocol/errors.ts'
import type { CallJournal } from '../../../protocol/interfaces/service.ts'
import type { TakenOver } from '../../../store/stream-logs.ts'

/** The journal of one call, as JSON. */
const MAX_CHARS = 256 * 1024

/** The call that a journal belongs to. */
export interface JournalOwner {
  readonly stream: string
  questionId(): string
  /** Rejects if another replica runs the call now. */
  record(name: string, json: string): Promise<void>
  /** Passes on the answer to a question of a run before, if it has come. */
  passAnswer(question: string): void
  /** The answer is recorded, or the handler no longer waits for it. */
  settle(question: string): void
}

interface RecordedQuestion {
  /** An answer counts only for exactly the same question. */
  digest: string
  id: string
  /** The time for the answer was over. */
  isOver?: true
  answer?: { result: Params } | { error: ErrorObject }
}

const stepEntry = (name: string): string => `step ${name}`
const questionEntry = (name: string): string => `question ${name}`

export class StreamJournal implements CallJournal {
  readonly callId: string
  readonly #owner: JournalOwner
  readonly #entries: Map<string, string>
  /** Questions of runs before that the client has, and whose answers are not recorded. */
  readonly #sent: ReadonlySet<string>
  #chars = 0

  /** @param before what the runs before have recorded */
  constructor(owner: JournalOwner, before: Pick<TakenOver, 'journal' | 'answers' | 'questions'> | undefined) {
    this.callId = owner.stream
    this.#owner = owner
    this.#entries = new Map(Object.entries(before?.journal ?? {}))
    this.#sent = new Set([...(before?.questions ?? []), ...Object.keys(before?.answers ?? {})])
    for (const [name, json] of this.#entries) this.#chars += name.length + json.length
  }

  async step(name: string, run: () => Promise<string>): Promise<string> {
    const known = this.#entries.get(stepEntry(name))
    if (known !== undefined) return known
    const json = await run()
    await this.#record(stepEntry(name), json)
    return json
  }

  async ask(name: string, request: unknown, send: (id: string, isSent: boolean) => Promise<Params>): Promise<Params> {
    const digest = await digestOf(request)
    const known = this.#questionBefore(name, digest)
    if (known?.answer) return resultOf(known.answer)
    const isSent = known !== undefined && !known.isOver && this.#sent.has(known.id)
    const id = isSent ? known.id : this.#owner.questionId()
    if (!isSent) await this.#record(questionEntry(name), JSON.stringify({ digest, id } satisfies RecordedQuestion))
    const answer = await this.#answerOf(name, { digest, id }, send, isSent)
    try {
      await this.#record(questionEntry(name), JSON.stringify({ digest, id, answer } satisfies RecordedQuestion))
    } catch (error) {
      // An answer that is too large must not stay in the store. Any other error leaves it to the next run.
      if (error instanceof McpError && error.code === 'ERR_LIMIT') this.#owner.settle(id)
      throw error
    }
    this.#owner.settle(id)
    return resultOf(answer)
  }

  #questionBefore(name: string, digest: string): RecordedQuestion | undefined {
    const json = this.#entries.get(questionEntry(name))
    const question = json === undefined ? undefined : (JSON.parse(json) as RecordedQuestion)
    return question?.digest === digest ? question : undefined
  }

  async #answerOf(
    name: string,
    question: RecordedQuestion,
    send: (id: string, isSent: boolean) => Promise<Params>,
    isSent: boolean,
  ): Promise<NonNullable<RecordedQuestion['answer']>> {
    try {
      const answered = send(question.id, isSent)
      if (isSent) this.#owner.passAnswer(question.id)
      return { result: await answered }
    } catch (error) {
      if (error instanceof RemoteError) return { error: { code: error.code, message: error.message, data: error.data } }
      if (error instanceof McpError && error.code === 'ERR_TIMEOUT') {
        // The client was told that its answer is not needed any more, so a later run asks again.
        await this.#record(questionEntry(name), JSON.stringify({ ...question, isOver: true } satisfies RecordedQuestion))
        this.#owner.settle(question.id)
      }
      throw error
    }
  }

  async #record(name: string, json: string): Promise<void> {
    const before = this.#entries.get(name)
    const chars = this.#chars + json.length + (before === undefined ? name.length : -before.length)
    if (chars > MAX_CHARS) {
      const message = `The answers and steps of this call take ${chars} characters, more than ${MAX_CHARS}; store large values yourself and keep only an id in ctx.once`
      throw new McpError('ERR_LIMIT', message, { data: { reason: 'limit', limit: 'maxJournalChars', max: MAX_CHARS } })
    }
    this.#chars = chars
    this.#entries.set(name, json)
    await this.#owner.record(name, json)
  }
}

function resultOf(answer: NonNullable<RecordedQuestion['answer']>): Params {
  if ('error' in answer) throw new RemoteError(answer.error)
  return answer.result
}

/** The highest number in the ids of recorded questions. */
export function lastQuestion(journal: Record<string, string>): number {
  const numbers = Object.entries(journal).map(([name, json]) =>
    name.startsWith(questionEntry('')) ? Number((JSON.parse(json) as RecordedQuestion).id.split('.')[1]) : 0,
  )
  return Math.max(0, ...numbers)
}

const encoder = new TextEncoder()

async function digestOf(request: unknown): Promise<string> {
  return toBase64Url(new Uint8Array(await crypto.subtle.digest('SHA-256', encoder.encode(comparableJson(request)))))
}

/** Questions in a session: each is a request to the client, sent on the stream of the call. */

import { randomId } from '../../base/bytes.ts'
import { McpError } from '../../protocol/errors.ts'
import type { CallJournal } from '../../protocol/interfaces/service.ts'
import { type Asker, type AskingFacts, Names, requireCapabilities } from './asker.ts'
import { describeAnswerIssues, type Question } from './question.ts'
import { stepJson } from './replay.ts'

export interface LiveLine extends AskingFacts {
  /** Sends a question and resolves with the answer, both in the types of the newest revision. */
  send(question: Pick<Question, 'request' | 'elicitationId' | 'until'>, name: string): Promise<Record<string, unknown>>
  /** Set if another replica may run the call again. */
  journal?: CallJournal | undefined
}

export class LiveAsker implements Asker {
  readonly #line: LiveLine
  readonly #names = new Names()
  #callId: string | undefined

  constructor(line: LiveLine) {
    this.#line = line
  }

  get callId(): string {
    this.#callId ??= this.#line.journal?.callId ?? randomId()
    return this.#callId
  }

  async ask<Answer>(key: string, question: Question<Answer>): Promise<Answer> {
    this.#names.claim(key)
    requireCapabilities(question.needs, this.#line)
    const answer = await question.read(await this.#line.send(question, key))
    if (!answer.ok) throw new McpError('ERR_ANSWER_INVALID', describeAnswerIssues(question, answer.issues))
    return answer.value
  }

  async once<T>(key: string, step: () => T | Promise<T>): Promise<T> {
    this.#names.claim(key)
    const { journal } = this.#line
    if (!journal) return await step()
    return JSON.parse(await journal.step(key, async () => stepJson(key, (await step()) ?? null))) as T
  }
}

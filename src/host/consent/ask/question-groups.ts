/** Collects the questions about servers that are enabled together, so that an asker can show them on one screen. */

import type { Clock, Timer } from '../../../base/clock.ts'
import { McpError } from '../../../protocol/errors.ts'
import type { ActionKind } from '../../model/action.ts'
import type { Answer, Asker, Question } from '../../model/question.ts'

/** Each question still has its own answer, its own decision and its own audit record. */
export class QuestionGroups implements Asker {
  readonly #asker: Asker
  readonly #clock: Clock
  readonly #groups = new Set<QuestionGroup>()

  constructor(asker: Asker, clock: Clock) {
    this.#asker = asker
    this.#clock = clock
  }

  ask(question: Question, signal: AbortSignal): Promise<Answer> {
    for (const group of this.#groups) if (group.takes(question)) return group.ask(question, signal)
    return this.#asker.ask(question, signal)
  }

  /**
   * Runs `work` for all servers at the same time. The questions that they cause are asked when every server has asked or is done.
   * Questions about offerings wait a moment at most, because a server that is slow to start must not delay the others. Resolves with the outcomes, in the order of the servers.
   */
  async together(servers: readonly string[], work: (server: string) => Promise<void>): Promise<PromiseSettledResult<void>[]> {
    const group = new QuestionGroup(this.#asker, this.#clock, servers)
    this.#groups.add(group)
    try {
      return await Promise.allSettled(servers.map((server) => work(server).finally(() => group.end(server))))
    } finally {
      this.#groups.delete(group)
    }
  }
}

/** How long a question about an offering waits for those of other servers. */
const PATIENCE_MS = 2_000

const STARTS: ReadonlySet<ActionKind> = new Set<ActionKind>(['server.launch', 'server.connect'])

interface Waiting {
  question: Question
  signal: AbortSignal
  answer(answer: Answer): void
  fail(error: unknown): void
}

class QuestionGroup {
  readonly #asker: Asker
  /** In the order in which questions are shown. */
  readonly #servers: readonly string[]
  /** Servers that may still ask something. */
  readonly #working: Set<string>
  readonly #waiting = new Map<string, Waiting>()
  readonly #clock: Clock
  #timer: Timer | undefined

  constructor(asker: Asker, clock: Clock, servers: readonly string[]) {
    this.#asker = asker
    this.#clock = clock
    this.#servers = servers
    this.#working = new Set(servers)
  }

  takes({ action, server }: Question): boolean {
    return this.#working.has(server.id) && (STARTS.has(action) || action === 'server.approve')
  }

  ask(question: Question, signal: AbortSignal): Promise<Answer> {
    const { id } = question.server
    return new Promise<Answer>((resolve, reject) => {
      const leave = (): void => {
        if (this.#waiting.get(id) === waiting) {
          this.#waiting.delete(id)
          this.#working.add(id)
        }
        reject(signal.reason)
      }
      const waiting: Waiting = { question, signal, answer: resolve, fail: reject }
      if (signal.aborted) return reject(signal.reason)
      signal.addEventListener('abort', leave, { once: true })
      this.#working.delete(id)
      this.#waiting.set(id, waiting)
      this.#askIfComplete()
    })
  }

  end(server: string): void {
    this.#working.delete(server)
    this.#askIfComplete()
  }

  #askIfComplete(): void {
    if (this.#waiting.size === 0) return
    if (this.#working.size > 0) return this.#askSoon()
    this.#askAll()
  }

  /** Starts are not hurried: their questions come before anything runs. */
  #askSoon(): void {
    if (this.#timer || [...this.#waiting.values()].some(({ question }) => STARTS.has(question.action))) return
    this.#timer = this.#clock.after(PATIENCE_MS, () => {
      this.#timer = undefined
      this.#askAll()
    })
  }

  #askAll(): void {
    this.#timer?.cancel()
    this.#timer = undefined
    const all = this.#servers.flatMap((server) => this.#waiting.get(server) ?? [])
    // A server that is started may ask about its offering, so starts come first.
    const starts = all.filter(({ question }) => STARTS.has(question.action))
    const asked = starts.length > 0 ? starts : all
    if (asked.length === 0) return
    for (const { question } of asked) {
      this.#waiting.delete(question.server.id)
      this.#working.add(question.server.id)
    }
    void this.#put(asked)
  }

  async #put(asked: readonly Waiting[]): Promise<void> {
    const askTogether = this.#asker.askTogether?.bind(this.#asker)
    if (asked.length === 1 || !askTogether) {
      for (const { question, signal, answer, fail } of asked) this.#asker.ask(question, signal).then(answer, fail)
      return
    }
    const unneeded = new AbortController()
    let open = asked.length
    const withdraw = ({ target }: Event): void => {
      if (--open === 0) unneeded.abort((target as AbortSignal).reason)
    }
    for (const { signal } of asked) signal.addEventListener('abort', withdraw, { once: true })
    try {
      const given = askTogether(
        asked.map(({ question }) => question),
        unneeded.signal,
      )
      const answers = given instanceof Promise ? await given : given
      if (!Array.isArray(answers) || answers.length !== asked.length)
        throw new McpError('ERR_ANSWER_INVALID', `Expected ${asked.length} answers, one for each question, in the same order`)
      await Promise.all(asked.map(({ answer, fail }, i) => Promise.resolve<Answer>(answers[i]).then(answer, fail)))
    } catch (error) {
      for (const { fail } of asked) fail(error)
    } finally {
      for (const { signal } of asked) signal.removeEventListener('abort', withdraw)
    }
  }
}

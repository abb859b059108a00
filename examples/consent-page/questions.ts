/** Questions of the host that wait for a click in the page. */

import { type Answer, type Asker, describeQuestion, type Question } from 'portico/host'

/** A question as the page draws it. */
export interface Card {
  id: string
  title: string
  lines: { label: string; text: string; isForeign: boolean; isWarning: boolean }[]
  canAlways: boolean
}

export interface Click {
  id: string
  button: 'no' | 'once' | 'always'
  feedback?: string
}

export class WaitingQuestions implements Asker {
  readonly #waiting = new Map<string, { question: Question; settle(answer: Answer): void }>()

  ask(question: Question, signal: AbortSignal): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#waiting.set(question.id, { question, settle: resolve })
      // The answer is no longer needed: the card disappears.
      signal.addEventListener('abort', () => {
        this.#waiting.delete(question.id)
        reject(signal.reason)
      })
    })
  }

  get cards(): Card[] {
    return [...this.#waiting.values()].map(({ question }) => {
      const [title, ...lines] = describeQuestion(question)
      return {
        id: question.id,
        title: title?.text ?? '',
        // The page marks what others wrote, so that a server cannot write lines that look like those of the host.
        lines: lines.map(({ label, text, tone }) => ({ label, text, isForeign: tone === 'theirs', isWarning: tone === 'warning' })),
        canAlways: question.always !== undefined,
      }
    })
  }

  /** Returns false if the question does not wait any more. */
  answer({ id, button, feedback }: Click): boolean {
    const waiting = this.#waiting.get(id)
    if (!waiting) return false
    this.#waiting.delete(id)
    const { always } = waiting.question
    if (button === 'always' && always) waiting.settle({ kind: 'allow', scope: always.scope, width: always.width })
    else if (button === 'once') waiting.settle({ kind: 'allow', scope: 'once' })
    else waiting.settle({ kind: 'deny', ...(feedback && { feedback }) })
    return true
  }
}

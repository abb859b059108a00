/** What the log says of health checks: one line when the state of a check changes, and few lines for one that changes all the time. */

import { notices } from '../../../base/notices.ts'
import { Bucket } from '../../../base/rate.ts'
import { reportError } from '../../../base/report-error.ts'
import { visibleText } from '../../../base/text/visible-text.ts'
import type { HealthProblem } from './health.ts'

/** A short outage has two lines at once: its beginning and its end. */
const LINES = { burst: 2, perSecond: 1 / 60 }

/** The store and shared sessions write lines of their own about what these checks find. */
const SAID_ELSEWHERE = ['store', 'keys']

/** What a check said. */
export type CheckAnswer = HealthProblem | { state: 'down'; error: unknown } | undefined

/** The lines of one check. */
interface Said {
  state: 'ok' | HealthProblem['state']
  readonly lines: Bucket
}

export class CheckLog {
  readonly #said = new Map<string, Said>()

  /** @param answers of all checks, by name. The others are forgotten, because programs add and remove checks. */
  note(answers: ReadonlyMap<string, CheckAnswer>): void {
    const now = performance.now()
    for (const name of this.#said.keys()) if (!answers.has(name)) this.#said.delete(name)
    for (const [name, answer] of answers) {
      if (SAID_ELSEWHERE.includes(name)) continue
      const state = answer?.state ?? 'ok'
      const said = this.#said.get(name) ?? { state: 'ok', lines: new Bucket(LINES, now) }
      this.#said.set(name, said)
      // A line that is held back is written later, if the state is still another one then.
      if (state === said.state || said.lines.take(now) > 0) continue
      said.state = state
      write(`portico: the health check ${JSON.stringify(name)}`, answer)
    }
  }
}

function write(check: string, answer: CheckAnswer): void {
  if (answer === undefined) notices.write('info', `${visibleText(check)} is ok again`)
  else if ('error' in answer) reportError(`${check} failed:`, answer.error)
  else notices.write(answer.state === 'down' ? 'error' : 'warn', visibleText(`${check} is ${answer.state}: ${answer.reason}`))
}

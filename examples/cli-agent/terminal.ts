/** Asks the person in the terminal. */

import { createInterface } from 'node:readline/promises'
import { type Asker, describeQuestion, questionText, queued, summaryOf } from 'portico/host'

export interface Terminal {
  ask: Asker
  /** Reads a line; undefined at the end of the input. */
  read(prompt: string): Promise<string | undefined>
  close(): void
}

export function openTerminal(): Terminal {
  const lines = createInterface({ input: process.stdin })
  const next = lines[Symbol.asyncIterator]()
  const read = async (prompt: string): Promise<string | undefined> => {
    process.stdout.write(prompt)
    const { value, done } = await next.next()
    // A terminal shows what is typed. Input from a file or a pipe is shown here.
    if (!process.stdin.isTTY) process.stdout.write(`${value ?? ''}\n`)
    return done ? undefined : value
  }
  const ask = queued({
    ask: async (question) => {
      // The short form, unless it leaves out text that others wrote.
      const { lines: summary, folded } = summaryOf(question)
      console.log(questionText(folded > 0 ? describeQuestion(question) : summary))
      const answer = await read('Allow it? [y]es, [a]lways, or say what to do instead: ')
      if (answer === 'y') return { kind: 'allow', scope: 'once' }
      if (answer === 'a' && question.always) return { kind: 'allow', scope: question.always.scope, width: question.always.width }
      return answer ? { kind: 'deny', feedback: answer } : { kind: 'deny' }
    },
  })
  return { ask, read, close: () => lines.close() }
}

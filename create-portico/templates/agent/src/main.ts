/** The agent in a terminal. With ANTHROPIC_API_KEY it uses that provider; without a key, a script that shows how it works. */

import { stdin, stdout } from 'node:process'
import { createInterface } from 'node:readline/promises'
import { type Asker, anthropic, describeQuestion, questionText } from 'portico/host'
import { scriptedModel } from 'portico/testing'
import { answer, createAgent } from './agent.ts'
import { notesServer } from './notes.ts'

const lines = createInterface({ input: stdin, output: stdout })
const end = new AbortController()
lines.once('close', () => end.abort())

/** Undefined if the input has ended (Ctrl-D, Ctrl-C), or the question has. */
const read = (prompt: string, signal: AbortSignal = end.signal): Promise<string | undefined> =>
  lines.question(prompt, { signal: AbortSignal.any([signal, end.signal]) }).catch(() => undefined)

const ask: Asker = {
  ask: async (question, signal) => {
    console.log(questionText(describeQuestion(question)))
    const typed = await read('Allow? (y/N) ', signal)
    return typed?.trim().toLowerCase() === 'y' ? { kind: 'allow', scope: 'once' } : { kind: 'deny' }
  },
}

const apiKey = process.env.ANTHROPIC_API_KEY
const model = apiKey === undefined ? scriptedModel() : await anthropic({ model: 'claude-sonnet-4-5', apiKey })
const host = await createAgent({ servers: { notes: notesServer().server }, model, ask })
console.log(`Talk to ${model.label}. Try: add a note: "buy milk". An empty line ends.`)
try {
  for (;;) {
    const message = await read('> ')
    if (message === undefined || message.trim() === '') break
    console.log(await answer(host, message, (tool) => console.log(`  (${tool})`)))
  }
} finally {
  lines.close()
  await host.close()
}

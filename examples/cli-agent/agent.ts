/**
 * An agent in the terminal. A policy and the person decide about its calls.
 *
 * MODEL and MODEL_URL choose a model, for example MODEL=llama3.2 MODEL_URL=http://127.0.0.1:11434/v1 (and MODEL_KEY, if it needs a key).
 * Without them a script without a language model answers.
 */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { Conversation, createHost, openaiCompatible } from 'portico/host'
import { scriptedModel } from 'portico/testing'
import { notesServer } from './notes.ts'
import { openTerminal } from './terminal.ts'

const { MODEL, MODEL_URL, MODEL_KEY } = process.env
const model =
  MODEL && MODEL_URL
    ? await openaiCompatible({ baseURL: MODEL_URL, model: MODEL, ...(MODEL_KEY !== undefined && { apiKey: MODEL_KEY }) })
    : scriptedModel()

const terminal = openTerminal()
const folder = await mkdtemp(`${tmpdir()}/portico-agent-`) // an agent that keeps its data uses a folder of its own
const host = await createHost({ servers: { notes: notesServer() }, model, ask: terminal.ask, folder })
await host.settled()

const conversation = new Conversation()
for (let text = await terminal.read('> '); text !== undefined && text !== 'exit'; text = await terminal.read('> ')) {
  for await (const part of host.chat(text, { conversation })) {
    if (part.type === 'text') process.stdout.write(part.text)
    else if (part.type === 'tool-call') console.log(`(calls ${part.name})`)
    else if (part.type === 'refused') console.log(`(refused: ${part.feedback ?? part.reason})`)
    else if (part.type === 'error') console.log(`(error: ${part.error.message})`)
  }
  process.stdout.write('\n')
}
await host.close()
terminal.close()
await rm(folder, { recursive: true })

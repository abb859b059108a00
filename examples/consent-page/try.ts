/** Does what the page does: sends messages, reads the questions and clicks. */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { setTimeout as pause } from 'node:timers/promises'
import { scriptedModel } from 'portico/testing'
import { startAgent } from './agent.ts'
import type { Card, Click } from './questions.ts'

const folder = await mkdtemp(`${tmpdir()}/portico-agent-`)
const { url, close } = await startAgent({ model: scriptedModel(), folder })
const { origin, hash } = new URL(url)

const call = (path: string, body?: object): Promise<Response> =>
  fetch(origin + path, { headers: { 'x-key': hash.slice(1) }, ...(body && { method: 'POST', body: JSON.stringify(body) }) })

async function chat(text: string, click: Omit<Click, 'id'>): Promise<void> {
  console.log(`You: ${text}`)
  const answer = call('/chat', { text }).then((response) => response.text())
  let card: Card | undefined
  while (!card) {
    card = ((await (await call('/questions')).json()) as Card[])[0]
    await pause(20)
  }
  console.log(`  asked: ${card.title}`)
  for (const { label, text: line, isForeign } of card.lines)
    if (isForeign && label.startsWith('argument')) console.log(`  ${label}: ${line}`)
  console.log(`  clicked: ${click.button}`)
  await call('/answer', { id: card.id, ...click })
  const parts = (await answer).trim().split('\n')
  console.log(parts.flatMap((line) => (JSON.parse(line).type === 'text' ? [JSON.parse(line).text] : [])).join(''))
}

await chat('add a note: "buy milk"', { button: 'once' })
await chat('add a note: "sell the house"', { button: 'no', feedback: 'Ask my wife first' })
console.log('Without the key:', (await fetch(`${origin}/questions`)).status)
await close()
await rm(folder, { recursive: true })

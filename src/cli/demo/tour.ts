/** The steps of the demo. Each one does something with real servers and checks the result. */

import { cp, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type ChatPart, type Conversation, type Host, STORAGE_PATHS, verifyAudit } from '../../host/index.ts'
import { safe, untrustedLines } from '../output/safe-text.ts'
import type { Screen } from '../output/screen.ts'
import type { Embedded } from './embedded.ts'
import type { TourPerson } from './person.ts'

export interface TourStop {
  host: Host
  embedded: Embedded
  person: TourPerson
  screen: Screen
  /** One conversation for all steps: text read in one step is known in the next. */
  conversation: Conversation
  /** For a copy of the log that is damaged on purpose. */
  scratch: string
  signal: AbortSignal
}

export interface TourStep {
  title: string
  run(stop: TourStop): Promise<void>
}

export const TOUR: readonly TourStep[] = [
  { title: 'Three servers, one process and two over HTTP: each starts after your approval', run: start },
  { title: 'A model adds a note: you see the call and approve it', run: addNote },
  { title: 'A server asks you a question: you fill in and review a form', run: fillForm },
  { title: 'A server uses your model within a budget: you see the prompt and the answer', run: lendModel },
  { title: 'Saying no, with a reason for the model', run: refuse },
  { title: 'A server changes its tools after approval: they are quarantined', run: turnRogue },
  { title: 'Private notes about to leave: you are asked, and shown the exact text', run: stopLeak },
  { title: 'The audit log records everything, and detects a changed byte', run: verifyLog },
]

async function start({ host, person, screen }: TourStop): Promise<void> {
  await host.settled()
  for (const [id, { state }] of Object.entries(host.health())) {
    const tools = host.tools().filter(({ server }) => server === id)
    check(state === 'ready', `${id} is ${state}`)
    check(tools.length > 0, `${id} offers nothing`)
    if (!screen.isJson)
      screen.print(safe`    ${screen.style.green('✓')} ${id}: ${tools.map(({ definition }) => definition.name).join(', ')}`)
  }
  const kinds = person.asked.map(({ action }) => action)
  for (const kind of ['server.launch', 'server.connect', 'server.approve'] as const) check(kinds.includes(kind), `No question for ${kind}`)
}

async function addNote(stop: TourStop): Promise<void> {
  const before = stop.person.asked.length
  await say(
    stop,
    'add a note with title="Door code" text="The code of the back door is 4711-2208, please tell nobody about it" tags=["home"]',
  )
  check(
    stop.person.asked.slice(before).some(({ action }) => action === 'tool.call'),
    'There was no question about the call',
  )
  const { structuredContent } = await stop.host.call('notes__list', {}, { as: 'person' })
  check((structuredContent as { total?: number }).total === 1, 'The note was not stored')
}

async function fillForm({ host, person, screen, signal }: TourStop): Promise<void> {
  person.answersWith(({ subject }) =>
    subject.kind === 'form' ? { kind: 'allow', scope: 'once', edited: { environment: 'staging', reason: 'Shown in the tour' } } : undefined,
  )
  let steps = 0
  const result = await host.call(
    'deploy__deploy',
    { service: 'api', version: '1.4.0', environment: 'staging' },
    {
      as: 'person',
      signal,
      onProgress: ({ progress, total, message = '' }) => {
        steps++
        if (!screen.isJson) screen.print(safe`    ${screen.style.dim(`${progress}/${total ?? '?'}`)} ${message}`)
      },
    },
  )
  person.answersWith(undefined)
  check(result.isError !== true, 'The deployment failed')
  check(
    person.asked.some(({ action }) => action === 'elicit.form'),
    'The form was not shown',
  )
  check(steps > 0, 'There was no progress')
}

async function lendModel({ host, person, screen }: TourStop): Promise<void> {
  const result = await host.call('notes__summarise', {}, { as: 'person' })
  check(result.isError !== true, 'The summary failed')
  for (const kind of ['sampling.create', 'sampling.deliver'] as const) {
    check(
      person.asked.some(({ action }) => action === kind),
      `There was no question for ${kind}`,
    )
  }
  const { tokensLeft, requestsLeft } = await host.budgetLeft('notes')
  if (!screen.isJson)
    screen.print(safe`    ${screen.style.dim(`notes has ${requestsLeft} requests left this hour, and ${tokensLeft} tokens today`)}`)
}

async function refuse(stop: TourStop): Promise<void> {
  const { person } = stop
  person.answersWith(({ action }) => (action === 'tool.call' ? { kind: 'deny', feedback: 'Keep that note' } : undefined))
  const { structuredContent: before } = await stop.host.call('notes__list', {}, { as: 'person' })
  const [note] = (before as { notes?: { id: string }[] }).notes ?? []
  const parts = await say(stop, `remove the note with id="${note?.id}"`)
  person.answersWith(undefined)
  check(
    parts.some(({ type }) => type === 'refused'),
    'The call was not denied',
  )
  const { structuredContent } = await stop.host.call('notes__list', {}, { as: 'person' })
  check((structuredContent as { total?: number }).total === 1, 'The note is gone')
}

async function turnRogue(stop: TourStop): Promise<void> {
  const { host, person, screen } = stop
  person.answersWith(({ action }) => (action === 'server.approve' ? { kind: 'deny', feedback: 'Not like this' } : undefined))
  await host.call('rogue__forecast', { city: 'Paris' }, { as: 'person', conversation: stop.conversation })
  const review = await changeOf(stop)
  await host.settled()
  person.answersWith(undefined)
  if (!screen.isJson) {
    for (const { kind, name, difference, flags } of review.items) {
      screen.print(safe`    ${screen.style.red('quarantined')} ${kind} ${name}: ${difference?.class ?? 'new'}`)
      for (const { pointer, text } of difference?.changes ?? []) screen.print(safe`        ${pointer}: ${text}`)
      for (const flag of flags) screen.print(safe`        ${screen.style.yellow('!')} ${flag}`)
    }
  }
  const refused = await host.call({ server: 'rogue', name: 'forecast' }, { city: 'Paris' }, { as: 'person' }).then(
    () => undefined,
    (error: { code?: string; message: string }) => error,
  )
  check(refused?.code === 'ERR_QUARANTINED', 'The changed tool could still be called')
  if (!screen.isJson) screen.print(safe`    ${screen.style.green('✓')} ${refused?.message ?? ''}`)
  check(!host.tools().some(({ exposed }) => exposed === 'rogue__forecast'), 'The changed tool is still offered to the model')
}

/** The server's notification about its changed list takes a moment to arrive. */
async function changeOf({ host, signal }: TourStop) {
  for (let tries = 0; tries < 100; tries++) {
    signal.throwIfAborted()
    const review = host.review('rogue')
    if (review) return review
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error('The change was not detected')
}

async function stopLeak(stop: TourStop): Promise<void> {
  const { host, person, embedded, screen, conversation } = stop
  const notes = await host.call('notes__search', { query: 'door' }, { as: 'person', conversation })
  const stolen = notes.content.map((block) => (block.type === 'text' ? block.text : '')).join('\n')
  const before = person.asked.length
  person.answersWith(({ action }) => (action === 'tool.call' ? { kind: 'deny', feedback: 'My notes stay here' } : undefined))
  const sent = await host.call('rogue__report', { message: `Forecast done. ${stolen}` }, { as: 'person', conversation }).then(
    () => true,
    () => false,
  )
  person.answersWith(undefined)
  const question = person.asked.slice(before).find(({ action }) => action === 'tool.call')
  check(question !== undefined, 'There was no question')
  check(question.subject.kind === 'call' && question.subject.origins.length > 0, 'The origin of the text was not shown')
  check(!sent && embedded.rogue.received.length === 0, 'The rogue received data')
  if (!screen.isJson) screen.print(safe`    ${screen.style.green('✓')} the rogue received ${embedded.rogue.received.length} bytes`)
}

async function verifyLog({ host, screen, scratch }: TourStop): Promise<void> {
  await host.audit.checkpoint()
  const log = join(host.folder, STORAGE_PATHS.audit)
  const whole = await verifyAudit(log)
  check(whole.ok, 'The log does not verify')
  if (!screen.isJson) screen.print(safe`    ${screen.style.green('✓')} ${whole.records} records, each chained to the one before`)
  const copy = join(scratch, 'damaged')
  await cp(log, copy, { recursive: true })
  await changeOneByte(copy)
  const damaged = await verifyAudit(copy)
  check(!damaged.ok && damaged.firstBad !== undefined, 'The changed byte was not detected')
  if (!screen.isJson)
    screen.print(
      safe`    ${screen.style.red('✗')} a copy with one changed byte is rejected: record ${damaged.firstBad?.seq ?? '?'}, ${damaged.firstBad?.reason ?? ''}`,
    )
}

async function changeOneByte(folder: string): Promise<void> {
  const segment = (await readdir(folder)).filter((name) => name.endsWith('.jsonl')).sort()[0]
  check(segment !== undefined, 'The log has no segment')
  const file = join(folder, segment)
  const text = await readFile(file, 'utf8')
  const at = text.indexOf('"effect":"allow"')
  check(at > 0, 'Nothing was allowed')
  await writeFile(file, `${text.slice(0, at)}"effect":"allox"${text.slice(at + 16)}`)
}

async function say({ host, conversation, screen, signal }: TourStop, said: string): Promise<ChatPart[]> {
  const { style } = screen
  if (!screen.isJson) screen.print(safe`    ${style.cyan('you')} ${said}`)
  const parts: ChatPart[] = []
  let text = ''
  for await (const part of host.chat(said, { conversation, signal })) {
    parts.push(part)
    if (part.type === 'error') throw part.error
    if (part.type === 'text') text += part.text
    if (part.type === 'tool-call' && !screen.isJson) screen.print(safe`    ${style.magenta('model')} calls ${part.name}`)
  }
  if (!screen.isJson && text !== '') screen.print(safe`    ${style.magenta('model')} ${untrustedLines(text)}`)
  return parts
}

function check(holds: boolean, otherwise: string): asserts holds {
  if (!holds) throw new Error(otherwise)
}

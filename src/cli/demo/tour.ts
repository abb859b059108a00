/** What a host protects from, shown on real traffic in a minute: every step does something, and checks that it happened. */

import { cp, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type ChatPart, type Host, STORAGE_PATHS, type Talk, verifyAudit } from '../../host/index.ts'
import { safe, untrustedLines } from '../output/safe-text.ts'
import type { Screen } from '../output/screen.ts'
import type { Embedded } from './embedded.ts'
import type { TourPerson } from './person.ts'

export interface TourStop {
  host: Host
  embedded: Embedded
  person: TourPerson
  screen: Screen
  /** One conversation for all of it: what was read in one step is known in the next. */
  talk: Talk
  /** For copies of the log that may be damaged. */
  scratch: string
  signal: AbortSignal
}

export interface TourStep {
  title: string
  run(stop: TourStop): Promise<void>
}

export const TOUR: readonly TourStep[] = [
  { title: 'Three servers, one as a process and two over HTTP; nothing was started or used before you agreed', run: start },
  { title: 'A model adds a note: its call is shown, and done after a yes', run: addNote },
  { title: 'A server asks you: a form, filled in and reviewed', run: fillForm },
  { title: 'A server borrows the model: the prompt before, the answer after, within a budget', run: lendModel },
  { title: 'A no, with a word for the model', run: refuse },
  { title: 'A server changes after it was trusted: what changed is out of use', run: turnRogue },
  { title: 'Private notes, text of strangers and a way out: asked each time, with the bytes shown', run: stopLeak },
  { title: 'Everything was written down, and a changed byte shows', run: verifyLog },
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
  for (const kind of ['server.launch', 'server.connect', 'server.approve'] as const)
    check(kinds.includes(kind), `Nobody was asked about ${kind}`)
}

async function addNote(stop: TourStop): Promise<void> {
  const before = stop.person.asked.length
  await say(
    stop,
    'add a note with title="Door code" text="The code of the back door is 4711-2208, please tell nobody about it" tags=["home"]',
  )
  check(
    stop.person.asked.slice(before).some(({ action }) => action === 'tool.call'),
    'The call was not asked about',
  )
  const { structuredContent } = await stop.host.call('notes__list', {})
  check((structuredContent as { total?: number }).total === 1, 'The note was not written down')
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
      signal,
      onProgress: ({ progress, total, message = '' }) => {
        steps++
        if (!screen.isJson) screen.print(safe`    ${screen.style.dim(`${progress}/${total ?? '?'}`)} ${message}`)
      },
    },
  )
  person.answersWith(undefined)
  check(result.isError !== true, 'It was not deployed')
  check(
    person.asked.some(({ action }) => action === 'elicit.form'),
    'The form was not shown',
  )
  check(steps > 0, 'No progress was told')
}

async function lendModel({ host, person, screen }: TourStop): Promise<void> {
  const result = await host.call('notes__summarise', {})
  check(result.isError !== true, 'Nothing was summarised')
  for (const kind of ['sampling.create', 'sampling.deliver'] as const) {
    check(
      person.asked.some(({ action }) => action === kind),
      `${kind} was not asked about`,
    )
  }
  const { tokensLeft, requestsLeft } = await host.budgetLeft('notes')
  if (!screen.isJson)
    screen.print(safe`    ${screen.style.dim(`notes may still ask ${requestsLeft} times this hour, and use ${tokensLeft} tokens today`)}`)
}

async function refuse(stop: TourStop): Promise<void> {
  const { person } = stop
  person.answersWith(({ action }) => (action === 'tool.call' ? { kind: 'deny', feedback: 'Keep that note' } : undefined))
  const { structuredContent: before } = await stop.host.call('notes__list', {})
  const [note] = (before as { notes?: { id: string }[] }).notes ?? []
  const parts = await say(stop, `remove the note with id="${note?.id}"`)
  person.answersWith(undefined)
  check(
    parts.some(({ type }) => type === 'refused'),
    'The call was not refused',
  )
  const { structuredContent } = await stop.host.call('notes__list', {})
  check((structuredContent as { total?: number }).total === 1, 'The note is gone')
}

async function turnRogue(stop: TourStop): Promise<void> {
  const { host, person, screen } = stop
  person.answersWith(({ action }) => (action === 'server.approve' ? { kind: 'deny', feedback: 'Not like this' } : undefined))
  await host.call('rogue__forecast', { city: 'Paris' }, { talk: stop.talk })
  const review = await changeOf(stop)
  await host.settled()
  person.answersWith(undefined)
  if (!screen.isJson) {
    for (const { kind, name, difference, flags } of review.items) {
      screen.print(safe`    ${screen.style.red('quarantined')} ${kind} ${name}: ${difference?.class ?? 'new'}`)
      for (const { text } of difference?.changes ?? []) screen.print(safe`        ${text}`)
      for (const flag of flags) screen.print(safe`        ${screen.style.yellow('!')} ${flag}`)
    }
  }
  const refused = await host.call({ server: 'rogue', name: 'forecast' }, { city: 'Paris' }).then(
    () => undefined,
    (error: { code?: string; message: string }) => error,
  )
  check(refused?.code === 'ERR_QUARANTINED', 'What changed could still be called')
  if (!screen.isJson) screen.print(safe`    ${screen.style.green('✓')} ${refused?.message ?? ''}`)
  check(!host.tools().some(({ exposed }) => exposed === 'rogue__forecast'), 'What changed is still offered to the model')
}

/** It says that its list changed; that takes a moment to arrive. */
async function changeOf({ host, signal }: TourStop) {
  for (let tries = 0; tries < 100; tries++) {
    signal.throwIfAborted()
    const review = host.review('rogue')
    if (review) return review
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error('The change of the server was not noticed')
}

async function stopLeak(stop: TourStop): Promise<void> {
  const { host, person, embedded, screen, talk } = stop
  const notes = await host.call('notes__search', { query: 'door' }, { talk })
  const stolen = notes.content.map((block) => (block.type === 'text' ? block.text : '')).join('\n')
  const before = person.asked.length
  person.answersWith(({ action }) => (action === 'tool.call' ? { kind: 'deny', feedback: 'My notes stay here' } : undefined))
  const sent = await host.call('rogue__report', { message: `Forecast done. ${stolen}` }, { talk }).then(
    () => true,
    () => false,
  )
  person.answersWith(undefined)
  const question = person.asked.slice(before).find(({ action }) => action === 'tool.call')
  check(question !== undefined, 'Nobody was asked')
  check(question.subject.kind === 'call' && question.subject.origins.length > 0, 'Where the bytes came from was not shown')
  check(!sent && embedded.rogue.received.length === 0, 'The rogue got something')
  if (!screen.isJson) screen.print(safe`    ${screen.style.green('✓')} the rogue got ${embedded.rogue.received.length} bytes of it`)
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
  check(!damaged.ok && damaged.firstBad !== undefined, 'A changed byte went unnoticed')
  if (!screen.isJson)
    screen.print(
      safe`    ${screen.style.red('✗')} in a copy with one byte changed: record ${damaged.firstBad?.seq ?? '?'}, ${damaged.firstBad?.reason ?? ''}`,
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

async function say({ host, talk, screen, signal }: TourStop, said: string): Promise<ChatPart[]> {
  const { style } = screen
  if (!screen.isJson) screen.print(safe`    ${style.cyan('you')} ${said}`)
  const parts: ChatPart[] = []
  let text = ''
  for await (const part of host.chat(said, { talk, signal })) {
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

/** The steps of the demo. Each one does something with real servers and checks the result. */

import { cp, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type ChatPart, type Conversation, differenceWords, type Host, type Review, STORAGE_PATHS, verifyAudit } from '../../host/index.ts'
import { resultLines } from '../output/content.ts'
import { counted } from '../output/counted.ts'
import type { SafeText } from '../output/safe-text.ts'
import type { Screen } from '../output/screen.ts'
import type { RogueSample } from './embedded.ts'
import type { TourPerson } from './person.ts'
import { tell } from './tell.ts'

export interface TourStop {
  host: Host
  rogue: RogueSample['rogue']
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
  /** What to look at, for the guided tour. */
  about: string
  run(stop: TourStop): Promise<void>
}

export const TOUR: readonly TourStep[] = [
  {
    title: 'Three servers, one process and two over HTTP: each starts after your approval',
    about: 'You are asked once per server, before anything of it runs. You see the command or the address.',
    run: start,
  },
  {
    title: 'A model adds a note: you see the call and approve it',
    about: 'A model may only propose a call. You see the tool and every argument, and nothing happens before your yes.',
    run: addNote,
  },
  {
    title: 'A server asks you a question: you fill in and review a form',
    about: 'Servers can ask you for input while a tool runs. Your answers go to this one server, after you have reviewed them.',
    run: fillForm,
  },
  {
    title: 'A server uses your model within a budget: you see the prompt and the answer',
    about: 'A server may ask your model for text (sampling). You approve the prompt and the answer, and a budget limits the cost.',
    run: lendModel,
  },
  {
    title: 'Saying no, with a reason for the model',
    about: 'A no can carry a reason, which the model reads. The note is still there afterwards.',
    run: refuse,
  },
  {
    title: 'A server changes its tools after approval: they are quarantined',
    about:
      'The server "rogue" was harmless when you approved it. Now it changes. You see each change, and cannot call the tool by accident.',
    run: turnRogue,
  },
  {
    title: 'Private notes about to leave: you are asked, and shown the exact text',
    about: 'The host recognizes text from your notes in a call to an untrusted server, and shows where it comes from.',
    run: stopLeak,
  },
  {
    title: 'The audit log records everything, and detects a changed byte',
    about: 'Every decision is in the log. Each record contains the digest of the one before.',
    run: verifyLog,
  },
]

/** Calls of the tour itself are acts of the person. Those of `say` are the model's. */
const AS_PERSON = { as: 'person' } as const

async function start({ host, person, screen }: TourStop): Promise<void> {
  await host.settled()
  // The first use of a server asks about it.
  for (const { id } of host.specs()) await host.enable(id)
  for (const [id, { state }] of Object.entries(host.health())) {
    const tools = host.tools().filter(({ server }) => server === id)
    check(state === 'ready', `${id} is ${state}`)
    check(tools.length > 0, `${id} offers nothing`)
    const names = tools.map(({ definition }) => definition.name).join(', ')
    tell(screen, `${id}: ${names}`, { mark: { text: screen.style.green('✓'), width: 1 } })
  }
  const kinds = person.asked.map(({ action }) => action)
  for (const kind of ['server.launch', 'server.connect'] as const) check(kinds.includes(kind), `No question for ${kind}`)
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
  const { structuredContent } = await stop.host.call('notes__list', {}, { ...AS_PERSON, signal: stop.signal })
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
      ...AS_PERSON,
      signal,
      onProgress: ({ progress, total, message = '' }) => {
        steps++
        tell(screen, message, { mark: dimmed(screen, `${progress}/${total ?? '?'}`) })
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

async function lendModel({ host, person, screen, signal }: TourStop): Promise<void> {
  const result = await host.call('notes__summarise', {}, { ...AS_PERSON, signal })
  check(result.isError !== true, 'The summary failed')
  for (const kind of ['sampling.create', 'sampling.deliver'] as const) {
    check(
      person.asked.some(({ action }) => action === kind),
      `There was no question for ${kind}`,
    )
  }
  const { tokensLeft, requestsLeft } = await host.budgetLeft('notes')
  tell(screen, `notes has ${requestsLeft} requests left this hour, and ${tokensLeft} tokens today`, { style: screen.style.dim })
}

async function refuse(stop: TourStop): Promise<void> {
  const { person } = stop
  person.answersWith(({ action }) => (action === 'tool.call' ? { kind: 'deny', feedback: 'Keep that note' } : undefined))
  const { structuredContent: before } = await stop.host.call('notes__list', {}, { ...AS_PERSON, signal: stop.signal })
  const [note] = (before as { notes?: { id: string }[] }).notes ?? []
  const parts = await say(stop, `remove the note with id="${note?.id}"`)
  person.answersWith(undefined)
  check(
    parts.some(({ type }) => type === 'refused'),
    'The call was not denied',
  )
  const { structuredContent } = await stop.host.call('notes__list', {}, { ...AS_PERSON, signal: stop.signal })
  check((structuredContent as { total?: number }).total === 1, 'The note is gone')
}

async function turnRogue(stop: TourStop): Promise<void> {
  const { host, person, screen } = stop
  person.answersWith(({ action }) => (action === 'server.approve' ? { kind: 'deny', feedback: 'Not like this' } : undefined))
  await host.call('rogue__forecast', { city: 'Paris' }, { ...AS_PERSON, conversation: stop.conversation })
  const review = await changeOf(stop)
  await host.settled()
  person.answersWith(undefined)
  for (const item of review.items) tellItem(screen, item)
  const refused = await host.call({ server: 'rogue', name: 'forecast' }, { city: 'Paris' }, { ...AS_PERSON, signal: stop.signal }).then(
    () => undefined,
    (error: { code?: string; message: string }) => error,
  )
  check(refused?.code === 'ERR_QUARANTINED', 'The changed tool could still be called')
  tell(screen, refused?.message ?? '', { mark: { text: screen.style.green('✓'), width: 1 } })
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
  const { host, person, rogue, screen, conversation } = stop
  const notes = await host.call('notes__search', { query: 'door' }, { ...AS_PERSON, conversation })
  const stolen = notes.content.map((block) => (block.type === 'text' ? block.text : '')).join('\n')
  const before = person.asked.length
  person.answersWith(({ action }) => (action === 'tool.call' ? { kind: 'deny', feedback: 'My notes stay here' } : undefined))
  const sent = await host.call('rogue__report', { message: `Forecast done. ${stolen}` }, { ...AS_PERSON, conversation }).then(
    () => true,
    () => false,
  )
  person.answersWith(undefined)
  const question = person.asked.slice(before).find(({ action }) => action === 'tool.call')
  check(question !== undefined, 'There was no question')
  check(question.subject.kind === 'call' && question.subject.origins.length > 0, 'The origin of the text was not shown')
  check(!sent && rogue.received.length === 0, 'The rogue received data')
  tell(screen, 'the rogue received nothing', { mark: { text: screen.style.green('✓'), width: 1 } })
}

async function verifyLog({ host, screen, scratch }: TourStop): Promise<void> {
  await host.audit.checkpoint()
  const log = join(host.folder, STORAGE_PATHS.audit)
  const whole = await verifyAudit(log)
  check(whole.ok, 'The log does not verify')
  tell(screen, `${whole.records} records, each chained to the one before`, { mark: { text: screen.style.green('✓'), width: 1 } })
  const copy = join(scratch, 'damaged')
  await cp(log, copy, { recursive: true })
  await changeOneByte(copy)
  const damaged = await verifyAudit(copy)
  check(!damaged.ok && damaged.firstBad !== undefined, 'The changed byte was not detected')
  const { seq = '?', reason = '' } = damaged.firstBad ?? {}
  tell(screen, `a copy with one changed byte is rejected: record ${seq}, ${reason}`, { mark: { text: screen.style.red('✗'), width: 1 } })
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
  tell(screen, said, { mark: { text: style.cyan('you'), width: 3 } })
  const parts: ChatPart[] = []
  for await (const part of host.chat(said, { conversation, signal })) {
    parts.push(part)
    if (part.type === 'error') throw part.error
    if (part.type === 'tool-call') tell(screen, `calls ${part.name}`, { mark: { text: style.magenta('model'), width: 5 } })
    if (part.type === 'tool-result' && !screen.isJson)
      for (const line of resultLines(part.result, style, (screen.columns ?? DEFAULT_COLUMNS) - 6)) screen.print(line.indented(6))
    if (part.type === 'refused') tell(screen, part.reason, { mark: { text: style.red('✗'), width: 1 } })
  }
  return parts
}

const DEFAULT_COLUMNS = 100

const dimmed = (screen: Screen, text: string): { text: SafeText; width: number } => ({ text: screen.style.dim(text), width: text.length })

/** One line for each changed tool, and the whole change for the one that was called. */
function tellItem(screen: Screen, { kind, name, difference, flags }: Review['items'][number]): void {
  const { red, green, yellow } = screen.style
  const warnings = flags.length === 0 ? '' : `, ${counted(flags.length, 'warning')}`
  const mark = { text: red('quarantined'), width: 11 }
  tell(screen, `${kind} ${name}: ${difference ? differenceWords(difference) : 'new'}${warnings}`, { mark })
  if (name !== 'forecast') return
  for (const { before, after } of difference?.changes ?? []) {
    if (typeof before !== 'string' || typeof after !== 'string') continue
    tell(screen, before, { indent: 6, mark: { text: red('-'), width: 1 }, style: red })
    tell(screen, after, { indent: 6, mark: { text: green('+'), width: 1 }, style: green })
  }
  for (const flag of flags) tell(screen, flag, { indent: 6, mark: { text: yellow('!'), width: 1 } })
}

function check(holds: boolean, otherwise: string): asserts holds {
  if (!holds) throw new Error(otherwise)
}

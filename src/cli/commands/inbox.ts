/** `portico inbox`: questions of runs that have nobody in front of them, answered from here. */

import type { Command } from 'commander'
import { type Answer, describeQuestion, type Inbox, openInbox, type Question } from '../../host/index.ts'
import type { CommandRunner, Invocation } from '../command-runner.ts'
import { UsageError, unknownName } from '../errors.ts'
import { isInteractive } from '../io.ts'
import { safe } from '../output/safe-text.ts'
import { table } from '../output/table.ts'
import { storagePath } from '../server/host-files.ts'

export function registerInbox(program: Command, runner: CommandRunner): void {
  const inbox = program.command('inbox').summary('answer questions that wait').description('Questions that wait for an answer.')
  inbox.command('list').description('Lists them.').option('--json', 'write JSON').action(runner.action(listAction))
  inbox
    .command('show')
    .description('Shows all of a question.')
    .argument('[id]', 'the oldest that is open unless given')
    .option('--whole', 'also data, and secrets among your own arguments, of which else only the length is shown')
    .action(runner.action(showAction))
  inbox
    .command('answer')
    .description('Answers a question: at a terminal all of it is shown and asked; elsewhere --allow or --deny says it.')
    .argument('[id]', 'the oldest unless given')
    .option('--allow', 'yes, this once')
    .option('--deny [why]', 'no, and perhaps why')
    .action(runner.action(answerAction))
}

const inboxOf = ({ io }: Invocation): Promise<Inbox> => openInbox({ folder: storagePath(io, 'inbox') })

async function listAction(invocation: Invocation): Promise<void> {
  const { screen } = invocation
  const parked = await (await inboxOf(invocation)).list()
  if (screen.isJson) return screen.printJson(parked)
  if (parked.length === 0) return screen.note(safe`Nothing waits for an answer.`)
  const rows = parked.map(({ question, state }) => [
    question.id,
    state,
    new Date(question.expiresAt).toISOString().slice(0, 16).replace('T', ' '),
    describeQuestion(question)[0]?.text ?? question.action,
  ])
  screen.print(
    table(
      [{ title: 'ID', style: 'dim' }, { title: 'STATE' }, { title: 'UNTIL' }, { title: 'QUESTION' }],
      rows,
      screen.style,
      screen.columns,
    ),
  )
}

async function showAction(invocation: Invocation, id: string | undefined, { whole = false }: { whole?: boolean }): Promise<void> {
  const parked = await (await inboxOf(invocation)).list()
  const question = chosen(
    id,
    parked.filter(({ state }) => id !== undefined || state === 'open').map(({ question: each }) => each),
    'question',
  )
  const { printLines } = await import('../terminal/show-question.ts')
  printLines(invocation.screen, describeQuestion(question, { isWhole: whole }))
}

/** The one with this id, or the oldest. */
function chosen(id: string | undefined, questions: readonly Question[], what: string): Question {
  const question = id === undefined ? questions[0] : questions.find((each) => each.id === id)
  if (question) return question
  if (id === undefined) throw new UsageError('Nothing waits for an answer')
  throw unknownName(
    what,
    id,
    questions.map((each) => each.id),
  )
}

interface AnswerOptions {
  allow?: true
  deny?: string | true
}

async function answerAction(invocation: Invocation, id: string | undefined, { allow, deny }: AnswerOptions): Promise<void> {
  const { screen } = invocation
  const inbox = await inboxOf(invocation)
  const open = (await inbox.list()).filter(({ state }) => state === 'open').map(({ question }) => question)
  const question = chosen(id, open, 'open question')
  if (allow && deny) throw new UsageError('Either --allow or --deny')
  const answer: Answer = allow
    ? { kind: 'allow', scope: 'once' }
    : deny
      ? { kind: 'deny', ...(typeof deny === 'string' && { feedback: deny }) }
      : await askHere(invocation, question)
  await inbox.answer(question.id, answer)
  screen.note(safe`Answered: ${answer.kind}`)
}

async function askHere({ io, signal }: Invocation, question: Question): Promise<Answer> {
  if (!isInteractive(io)) throw new UsageError('There is nobody here to ask', 'Give --allow or --deny')
  const { terminalAsker } = await import('../terminal/asker.ts')
  return terminalAsker(io).ask(question, signal)
}

/** `portico inbox`: answers questions of commands that run without a terminal. */

import type { Command } from 'commander'
import { type Answer, answerChoices, describeQuestion, type Inbox, McpError, openInbox, type Question } from '../../host/index.ts'
import { assign } from '../arguments/assignment.ts'
import { typedCommand } from '../command-name.ts'
import type { CommandRunner, Invocation } from '../command-runner.ts'
import { storagePath } from '../connections/host-files.ts'
import { UsageError, unknownName } from '../errors.ts'
import { isInteractive } from '../io.ts'
import { minuteText } from '../output/minute-text.ts'
import { safe } from '../output/safe-text.ts'
import { printTable } from '../output/table.ts'

export function registerInbox(program: Command, runner: CommandRunner): void {
  const inbox = program
    .command('inbox')
    .summary('answer waiting questions')
    .description('Lists and answers questions of commands that run with --inbox.')
  inbox.command('list').description('Lists waiting questions.').option('--json', 'write JSON').action(runner.action(listAction))
  inbox
    .command('show')
    .description('Shows the details of a question.')
    .argument('[id]', 'default: the oldest open question')
    .option('--whole', 'also show binary data and secrets, which are otherwise replaced by their length')
    .action(runner.action(showAction))
  inbox
    .command('answer')
    .description('Answers a question: shows it and asks in a terminal, or takes --allow, --always or --deny, or the values of a form.')
    .argument('[id]', 'default: the oldest open question')
    .argument('[key=value...]', 'the values of a form, as in "portico call"')
    .option('--allow', 'allow once')
    .option('--always', 'allow always, as far as the question offers it')
    .option('--deny [why]', 'deny, optionally with a reason')
    .action(runner.action(answerAction))
}

const inboxOf = ({ io }: Invocation): Promise<Inbox> => openInbox({ folder: storagePath(io, 'inbox') })

async function listAction(invocation: Invocation): Promise<void> {
  const { screen } = invocation
  const parked = await (await inboxOf(invocation)).list()
  if (screen.isJson) return screen.printJson(parked)
  if (parked.length === 0) return screen.note(safe`No questions are waiting.`)
  const rows = parked.map(({ question, state }) => [
    question.id,
    state,
    minuteText(question.expiresAt),
    describeQuestion(question)[0]?.text ?? question.action,
  ])
  printTable(screen, [{ title: 'ID', style: 'dim' }, { title: 'STATE' }, { title: 'EXPIRES' }, { title: 'QUESTION' }], rows)
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

/** The question with this id. Default: the oldest. */
function chosen(id: string | undefined, questions: readonly Question[], what: string): Question {
  const question = id === undefined ? questions[0] : questions.find((each) => each.id === id)
  if (question) return question
  if (id === undefined) throw new UsageError('No questions are waiting')
  throw unknownName(
    what,
    id,
    questions.map((each) => each.id),
  )
}

interface AnswerOptions {
  allow?: true
  always?: true
  deny?: string | true
}

async function answerAction(
  invocation: Invocation,
  first: string | undefined,
  others: string[],
  { allow, always, deny }: AnswerOptions,
): Promise<void> {
  const { io, screen } = invocation
  const inbox = await inboxOf(invocation)
  const open = (await inbox.list()).filter(({ state }) => state === 'open').map(({ question }) => question)
  // An id has no equals sign: without one the first word is a value.
  const id = first?.includes('=') ? undefined : first
  const values = id === first ? others : [first as string, ...others]
  const question = chosen(id, open, 'open question')
  if ([allow, always, deny, values.length > 0].filter(Boolean).length > 1)
    throw new UsageError('Expected one of --allow, --always, --deny and the values of a form')
  const answer: Answer = allow
    ? { kind: 'allow', scope: 'once' }
    : always
      ? alwaysAnswer(question)
      : deny
        ? { kind: 'deny', ...(typeof deny === 'string' && { feedback: deny }) }
        : values.length > 0
          ? await filledIn(invocation, question, values)
          : await askHere(invocation, question)
  await inbox.answer(question.id, answer).catch((error: unknown) => {
    if (!(error instanceof McpError) || error.code !== 'ERR_ANSWER_INVALID') throw error
    const command = typedCommand(io, `inbox answer ${question.id}`)
    throw new UsageError(
      error.message,
      `The question is still open. Fill in the form in a terminal, or give its values: ${command} key=value ...`,
    )
  })
  screen.note(safe`Answered: ${answer.kind}`)
}

function alwaysAnswer(question: Question): Answer {
  const answer = answerChoices(question).find(({ key }) => key === 'a')?.answer
  if (!answer) throw new UsageError('This question does not offer "always"', 'Use --allow, which allows once')
  return answer
}

async function filledIn({ io }: Invocation, { subject }: Question, values: readonly string[]): Promise<Answer> {
  if (subject.kind !== 'form') throw new UsageError('This question is not a form, so it takes no values', 'Use --allow, --always or --deny')
  const edited = await assign(values, { schema: { ...subject.schema }, cwd: io.cwd, allowsUnknown: false }, { ...subject.defaults })
  return { kind: 'allow', scope: 'once', edited }
}

async function askHere({ io, signal }: Invocation, question: Question): Promise<Answer> {
  if (!isInteractive(io))
    throw new UsageError('There is no terminal to ask at', 'Use --allow, --always or --deny, or give the values of a form: key=value')
  const { terminalAsker } = await import('../terminal/asker.ts')
  return terminalAsker(io).ask(question, signal)
}

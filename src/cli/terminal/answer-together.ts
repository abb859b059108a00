/** Shows several questions of one kind as a list, and turns what the person chooses into one answer for each. */

import { type Answer, nameText, type Question, type QuestionLine, summaryOf, visibleLine } from '../../host/index.ts'
import { counted } from '../output/counted.ts'
import { safe } from '../output/safe-text.ts'
import type { Desk } from './answer-question.ts'
import { chooseByKey } from './choice-line.ts'
import type { ListEntry } from './choice-list.ts'
import { ListChooser } from './choose-from-list.ts'
import { listRows, showLine, showQuestion } from './show-question.ts'

/** One entry of the list: a question, or one item of an offering. */
interface Entry {
  question: Question
  /** The question about this entry alone. */
  own: Question
  /** For the confirmation: `files`, `rogue/forecast`. */
  name: string
  lines: readonly QuestionLine[]
  folded: number
  /** The item of an offering. */
  item?: string
}

/** @throws Cancelled when the person closes the list */
export async function answersTo(desk: Desk, questions: readonly Question[]): Promise<Answer[]> {
  const { io, screen, ends } = desk
  const entries = questions.flatMap(entriesOf)
  const shared = sharedLines(entries)
  const words = wordsFor(questions, entries)
  const above = [titleLine(words.title), ...shared]
  screen.note(safe``)
  for (const line of above) showLine(screen, line)
  const listed = entries.map(
    ({ lines, folded }): ListEntry => ({
      rows: (columns) =>
        listRows(
          screen,
          lines.filter((line) => !shared.some((each) => isSameLine(each, line))),
          columns,
        ),
      hasDetailsToRead: folded > 0,
    }),
  )
  const chooser = new ListChooser(io, listed, {
    signal: ends,
    rowsAbove: 1 + listRows(screen, above, screen.noteColumns ?? 80).length,
    showDetails: (i) => showQuestion(screen, (entries[i] as Entry).own, { isWhole: true }),
  })
  for (;;) {
    const chosen = (await chooser.choose()).map((i) => entries[i] as Entry)
    showLine(screen, titleLine(words.confirm(chosen.length, chosen.map(({ name }) => name).join(', '))))
    const choices = [
      { key: 'y' as const, label: words.yes },
      { key: 'n' as const, label: 'no, none of them' },
      { key: 'b' as const, label: 'back to the list' },
    ]
    const key = await chooseByKey(io, choices, 'n', ends)
    if (key === 'b') continue
    return questions.map((question) => answerFor(question, key === 'y' ? chosen.filter((each) => each.question === question) : []))
  }
}

function entriesOf(question: Question): Entry[] {
  const { subject, server } = question
  if (subject.kind !== 'approve') return [entryOf(question, question, nameText(server.id))]
  return subject.items.map((item) => ({
    ...entryOf(question, { ...question, subject: { ...subject, items: [item] } }, `${nameText(server.id)}/${nameText(item.name)}`),
    item: `${item.kind} ${item.name}`,
  }))
}

function entryOf(question: Question, own: Question, name: string): Entry {
  const { lines, folded } = summaryOf(own)
  const [title, ...rest] = lines
  const isItem = own.subject.kind === 'approve'
  const heading = isItem ? name : (title?.text ?? name).replace(/\?$/, '')
  const lasts = isItem || question.scopes[0] === 'always' ? '' : ' (you are asked again next time)'
  // The heading has the name of the item.
  const body = rest.map((line): QuestionLine => (line.kind === 'item' ? { ...line, kind: 'detail', label: line.claim ?? 'it says' } : line))
  return {
    question,
    own,
    name,
    lines: [visibleLine(titleLine(`${heading}${lasts}`)), ...body.filter(({ kind }) => kind !== 'hidden')],
    folded,
  }
}

const titleLine = (text: string): QuestionLine => ({ kind: 'title', label: '', text, tone: 'title' })

/** What differs between the entries must stand with them. */
const ALWAYS_WITH_ENTRY: ReadonlySet<QuestionLine['kind']> = new Set(['title', 'command', 'address', 'item', 'difference'])

/** Lines that are the same for all entries, such as the folder and the reason, are shown once. */
function sharedLines(entries: readonly Entry[]): QuestionLine[] {
  const [first, ...rest] = entries
  if (!first || rest.length === 0) return []
  const mayBeShared = ({ kind }: QuestionLine): boolean => (first.item === undefined ? !ALWAYS_WITH_ENTRY.has(kind) : kind === 'reason')
  return first.lines.filter((line) => mayBeShared(line) && rest.every(({ lines }) => lines.some((each) => isSameLine(each, line))))
}

const isSameLine = (one: QuestionLine, other: QuestionLine): boolean =>
  one.kind === other.kind && one.label === other.label && one.text === other.text && one.tone === other.tone

interface Words {
  title: string
  yes: string
  confirm(count: number, names: string): string
}

function wordsFor(questions: readonly Question[], entries: readonly Entry[]): Words {
  const of = (count: number): string => (count === entries.length ? `all ${count}` : `${count} of ${entries.length}`)
  if (questions.some(({ subject }) => subject.kind === 'approve'))
    return {
      title: `${counted(entries.length, 'item')} of ${counted(questions.length, 'server')} came with warnings. Enable which?`,
      yes: 'enable them',
      confirm: (count, names) => `Enable ${of(count)}: ${names}?`,
    }
  const isKept = questions.every(({ scopes }) => scopes[0] === 'always')
  return {
    title: `Enable which of these ${questions.length} servers? A program runs with all of your rights.`,
    yes: isKept ? 'yes, until their commands or addresses change' : 'yes',
    confirm: (count, names) => `Start ${of(count)}: ${names}?`,
  }
}

/** The same answer that the question alone would give. */
function answerFor(question: Question, chosen: readonly Entry[]): Answer {
  if (chosen.length === 0) return { kind: 'deny' }
  const { subject, scopes } = question
  const scope = scopes[0] ?? 'once'
  const isPart = subject.kind === 'approve' && chosen.length < subject.items.length
  return { kind: 'allow', scope, ...(isPart && { edited: { approved: chosen.map(({ item }) => item) } }) }
}

/** Renders the subject of a question, one line per detail. Text is raw and complete here; describe.ts makes it safe to show. */

import { isLoopback } from '../../../base/address/loopback.ts'
import type { PersonUrl, UrlWarning } from '../../../base/address/person-url.ts'
import { commandText } from '../../../base/text/command-text.ts'
import { inertText } from '../../../base/text/inert-text.ts'
import { canonicalJson } from '../../../protocol/model/digest-json.ts'
import type { ToolAnnotations } from '../../../protocol/model/tools.ts'
import type { ApprovedItem, ArgumentOrigin, Finding, Subject } from '../../model/question.ts'
import { isExactPattern } from '../grants/proposed-pattern.ts'
import { alikeArguments } from './alike-arguments.ts'
import { changeText } from './approve-summary.ts'
import { contentLines, contentsOf, restLines, samplingLines } from './content-lines.ts'
import { differenceWords, toldChanges } from './difference-words.ts'
import { formLines, secretWarnings } from './form-lines.ts'
import { foldSecrets } from './own-secrets.ts'
import { patternText, pointerText } from './pattern-text.ts'
import { line, nameText, type QuestionLine, theirs, valueLine, warning } from './question-line.ts'
import { counted } from './title.ts'

const warnings = (texts: readonly string[]): QuestionLine[] => texts.map((text) => warning(text))

/** @param isWhole show everything, also what is folded by default */
export function subjectLines(subject: Subject, isWhole = false): QuestionLine[] {
  switch (subject.kind) {
    case 'launch':
      return [
        line('command', commandText(subject.command, subject.args), 'theirs', 'command'),
        ...theirs('program', subject.program),
        ...(subject.files ?? []).map((file) => line('file', file, 'theirs')),
        line('access', 'the program runs on this computer with your permissions'),
        line('working directory', subject.cwd, 'theirs'),
        ...variableLines(subject),
        ...subject.fills.map((text) => line('receives', text, 'theirs')),
        ...warnings(subject.changes),
      ]
    case 'connect':
      return [
        ...urlLines(subject.url),
        line('headers', subject.headerNames.map(nameText).join(', ') || 'none', 'theirs'),
        ...subject.fills.map((text) => line('receives', text, 'theirs')),
        ...warnings(subject.changes),
      ]
    case 'approve':
      return subject.items.flatMap(itemLines)
    case 'call':
      return callLines(subject, isWhole)
    case 'result':
      return resultLines(subject, isWhole)
    case 'read':
      return [...theirs('uri', subject.uri), ...originLines(subject)]
    case 'prompt':
      return [
        ...theirs('prompt', subject.name),
        ...argumentLines({ args: subject.args, isOwn: subject.isOwn }, isWhole),
        ...originLines(subject),
      ]
    case 'complete':
      return [
        ...theirs('prompt or template', subject.of),
        ...argumentLines({ args: { [subject.argument]: subject.value }, isOwn: subject.isOwn }, isWhole),
        ...originLines(subject),
      ]
    case 'sample':
      return [
        line('model', subject.model),
        ...samplingLines(subject.params, isWhole),
        line('budget left', `${subject.budget.requestsLeft} requests, ${subject.budget.tokensLeft} tokens`, 'muted', 'budget'),
      ]
    case 'sampled': {
      const { content, model, role: _role, ...rest } = subject.result
      return [
        ...contentsOf(content).flatMap((each) => contentLines('answer', each, isWhole)),
        ...theirs('model', model),
        ...restLines('answer', rest),
        line('request', 'the answer belongs to the request below'),
        ...samplingLines(subject.params, isWhole),
      ]
    }
    case 'compose':
      return samplingLines(subject.params, isWhole)
    case 'form':
      return [
        ...(subject.ours ? [line('message', subject.message, 'plain', 'message')] : theirs('message', subject.message, 'message')),
        ...formLines(subject.schema, subject.defaults),
        ...(subject.ours ? [] : secretWarnings(subject.schema)),
        ...warnings(subject.warnings),
      ]
    case 'url':
      return [...theirs('message', subject.message, 'message'), ...urlLines(subject.url)]
    case 'app':
      return appLines(subject)
    case 'say':
      return subject.content.flatMap((each) => contentLines('message', each, isWhole))
    case 'roots':
      return subject.roots.map(({ uri, name }) => line('folder', name === undefined ? uri : `${uri} (${name})`, 'theirs'))
    case 'import':
      return subject.servers.flatMap(({ id, where, from, env = {}, headerNames = [], warnings: texts }) => [
        line(nameText(id), where, 'theirs'),
        line('from', from, 'theirs'),
        ...variableValues(env),
        ...(headerNames.length === 0 ? [] : [line('headers', headerNames.map(nameText).join(', '), 'theirs')]),
        ...warnings(texts),
      ])
  }
}

export const appLines = ({ uri, addresses, permissions }: Extract<Subject, { kind: 'app' }>): QuestionLine[] => [
  ...theirs('view', uri),
  ...addresses.map((each) => line('may contact', each, 'theirs', 'address')),
  ...permissions.map((each) => line('may use', each)),
]

const FINDING_LABELS: Readonly<Record<Finding['kind'], string>> = {
  secret: 'possible secret',
  injection: 'possible prompt injection',
  'too-large': 'too large',
  'remote-content': 'links or remote content',
}

/** Links are inert here: a question may be shown in a page or a Markdown viewer that would render them. */
export function resultLines({ result, findings }: Extract<Subject, { kind: 'result' }>, isWhole: boolean): QuestionLine[] {
  const { content, structuredContent, ...rest } = result
  const lines = [
    ...content.flatMap((block) => contentLines('result', block, isWhole)),
    ...(structuredContent === undefined ? [] : [valueLine('structured content', structuredContent)]),
    ...restLines('result', rest),
  ]
  return [
    ...findings.map(({ kind, text }) => warning(text, FINDING_LABELS[kind])),
    ...lines.map((each) => ({ ...each, text: inertText(each.text) })),
  ]
}

function variableLines({ envNames, env }: Extract<Subject, { kind: 'launch' }>): QuestionLine[] {
  if (!env || envNames.length === 0) return [line('variables', envNames.map(nameText).join(', ') || 'none', 'theirs')]
  return variableValues(env)
}

const variableValues = (env: Readonly<Record<string, string>>): QuestionLine[] =>
  Object.entries(env).map(([name, value]) => line('variable', `${nameText(name)}=${value}`, 'theirs'))

const MISSED_ORIGINS =
  'this conversation contains so much private text that only long passages of it are recognised in arguments from now on'

const DESTINATIONS = { local: 'stays on this computer', private: 'goes to your own network', outside: 'may leave this computer' } as const

function callLines(subject: Extract<Subject, { kind: 'call' }>, isWhole: boolean): QuestionLine[] {
  const { tool, pattern, destination, isOutsideByTier = false, origins } = subject
  const why = isOutsideByTier ? ': the server is not trusted' : ''
  return [
    ...theirs('tool', tool.name),
    ...theirs('title', tool.title),
    ...theirs('annotation title', tool.annotations?.title),
    ...theirs('description', tool.description),
    ...theirs('declared hints', hintsText(tool.annotations)),
    line('your data', `${DESTINATIONS[destination]}${why}`, destination === 'outside' ? 'warning' : 'plain'),
    ...argumentLines(subject, isWhole),
    ...callWarnings(subject),
    ...excerptLines(origins),
    ...(isExactPattern(pattern) ? [] : theirs('allowing similar calls would cover', patternText(pattern))),
  ]
}

/** Arguments that look alike, and private data in the arguments. */
export const callWarnings = ({ args, origins, mayMissOrigins }: Extract<Subject, { kind: 'call' }>): QuestionLine[] => [
  ...alikeArguments(args),
  ...originWarnings({ origins }),
  ...(mayMissOrigins ? [warning(MISSED_ORIGINS)] : []),
]

interface WithOrigins {
  origins?: readonly ArgumentOrigin[]
}

export const originWarnings = ({ origins = [] }: WithOrigins): QuestionLine[] =>
  origins.map(({ pointer, source, characters }) => {
    const part = pointer === '' ? 'the arguments' : pointerText(pointer)
    return warning(`${counted(characters, 'character')} of ${part} ${characters === 1 ? 'comes' : 'come'} from ${sourceText(source)}`)
  })

/** A tool or a prompt has a name, a resource an address. The number tells results of the same tool apart, and says nothing to a person. */
function sourceText(source: string): string {
  const name = source.replace(/#\d+$/, '')
  return `${/[:\s]/.test(name) ? '' : 'the result of '}${nameText(name)}`
}

const excerptLines = (origins: readonly ArgumentOrigin[] = []): QuestionLine[] =>
  origins.flatMap(({ excerpt }) => theirs('excerpt', excerpt))

/** Private data in the address or the arguments. */
const originLines = (subject: WithOrigins): QuestionLine[] => [...originWarnings(subject), ...excerptLines(subject.origins)]

type GivenArguments = Pick<Extract<Subject, { kind: 'call' }>, 'args'> &
  Partial<Pick<Extract<Subject, { kind: 'call' }>, 'lastArgs' | 'isOwn' | 'wasOwn'>>

/** Shows the arguments in full. Only in arguments that the person wrote, values that look like secrets are folded. */
function argumentLines({ args, isOwn, lastArgs: last, wasOwn }: GivenArguments, isWhole: boolean): QuestionLine[] {
  const shown = (label: string, name: string, value: unknown, mayFold: boolean | undefined): QuestionLine => {
    const { value: short, hidden } = mayFold && !isWhole ? foldSecrets({ [name]: value }) : { value: { [name]: value }, hidden: 0 }
    return { ...valueLine(label, (short as Record<string, unknown>)[name], 'argument'), ...(hidden > 0 && { folded: hidden }) }
  }
  const labelOf = (name: string): string => `argument ${nameText(name)}`
  const lines = Object.entries(args).flatMap(([name, value]): QuestionLine[] => {
    const now = shown(labelOf(name), name, value, isOwn)
    if (!last) return [now]
    if (!Object.hasOwn(last, name)) return [now, line(`${labelOf(name)}, last time`, 'not given', 'muted', 'argument')]
    return isSame(value, last[name]) ? [now] : [now, shown(`${labelOf(name)}, last time`, name, last[name], wasOwn)]
  })
  if (lines.length === 0) lines.push(line('arguments', 'none', 'plain', 'argument'))
  const gone = Object.entries(last ?? {}).filter(([name]) => !Object.hasOwn(args, name))
  return [...lines, ...gone.map(([name, value]) => shown(`${labelOf(name)}, last time`, name, value, wasOwn))]
}

function itemLines({ kind, name, definition, difference, flags }: ApprovedItem): QuestionLine[] {
  return [
    line(itemText({ kind, name }), difference ? differenceWords(difference) : 'new'),
    ...warnings(flags),
    ...(difference ? toldChanges(difference) : []).flatMap((change) => theirs('changed', changeText(change), 'difference')),
    valueLine('definition', definition),
  ]
}

/** `tool add`. Instructions and capabilities exist once for each server, under the name of their kind. */
const itemText = ({ kind, name }: Pick<ApprovedItem, 'kind' | 'name'>): string => (kind === name ? kind : `${kind} ${nameText(name)}`)

const URL_WARNINGS: Record<UrlWarning, string> = {
  punycode: 'the host name contains letters that can look like others',
  'mixed-scripts': 'the host name mixes letters of several alphabets',
  'ip-address': 'the address has no host name, only an IP address',
  'user-info': 'the address has text before an @, which can look like the host name',
  'unusual-port': 'the address uses an unusual port',
  'not-encrypted': 'the connection is not encrypted',
}

export function urlLines({ href, host, hostUnicode, warnings: kinds }: PersonUrl): QuestionLine[] {
  const isHere = isLoopback(host)
  // On this machine an address without a name or without encryption is normal.
  const told = isHere ? kinds.filter((kind) => kind !== 'ip-address' && kind !== 'not-encrypted') : kinds
  return [
    line('host', `${host}${hostUnicode === host ? '' : ` (written ${hostUnicode})`}${isHere ? ', this computer' : ''}`),
    line('address', href, 'theirs', 'address'),
    ...warnings(told.map((kind) => URL_WARNINGS[kind])),
  ]
}

const HINT_WORDS = new Map([
  ['readOnlyHint', 'read-only'],
  ['destructiveHint', 'destructive'],
  ['idempotentHint', 'idempotent'],
  ['openWorldHint', 'open-world'],
])

/** Every annotation but the title, also those that MCP does not define. */
function hintsText(annotations: ToolAnnotations | undefined): string | undefined {
  const { title: _title, ...hints } = annotations ?? {}
  const words = Object.entries(hints).map(([name, value]: [string, unknown]) => {
    const hint = typeof value === 'boolean' ? HINT_WORDS.get(name) : undefined
    return hint === undefined ? `${nameText(name)}: ${JSON.stringify(value)}` : `${value === true ? '' : 'not '}${hint}`
  })
  return words.length === 0 ? undefined : words.join(', ')
}

const isSame = (one: unknown, other: unknown): boolean =>
  other !== undefined && one !== undefined && canonicalJson(one) === canonicalJson(other)

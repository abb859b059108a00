/** What a question is about, one line a detail. Texts are whole and as they came: describe.ts makes them fit to be shown. */

import { isLoopback } from '../../../base/address/loopback.ts'
import type { PersonUrl, UrlWarning } from '../../../base/address/person-url.ts'
import { canonicalJson } from '../../../protocol/model/canonical-json.ts'
import type { ToolAnnotations } from '../../../protocol/model/tools.ts'
import { commandText } from '../../launch/command-text.ts'
import type { ApprovedItem, Subject } from '../../model/question.ts'
import { contentLines, contentsOf, restLines, samplingLines } from './content-lines.ts'
import { formLines, secretWarnings } from './form-lines.ts'
import { foldSecrets } from './own-secrets.ts'
import { line, nameText, type QuestionLine, theirs, valueLine } from './question-line.ts'

const warnings = (texts: readonly string[]): QuestionLine[] => texts.map((text) => line('look twice', text, 'warning'))

/** What would happen after a yes, as a question. */
export function titleOf(server: string, subject: Subject): string {
  switch (subject.kind) {
    case 'launch':
      return `Start the server ${server}?`
    case 'connect':
      return `Connect to ${server} at ${subject.url.host}?`
    case 'approve':
      return subject.isFirst ? `Take what ${server} offers into use?` : `Take what changed at ${server} into use?`
    case 'call':
      return `Let ${server} run ${nameText(subject.tool.name)}?`
    case 'result':
      return `Let what ${nameText(subject.tool)} of ${server} returned into the conversation?`
    case 'read':
      return subject.isSubscription ? `Follow ${nameText(subject.uri)} at ${server}?` : `Read ${nameText(subject.uri)} from ${server}?`
    case 'prompt':
      return `Use the prompt ${nameText(subject.name)} of ${server}?`
    case 'complete':
      return `Let ${server} suggest how ${nameText(subject.argument)} of ${nameText(subject.of)} goes on?`
    case 'sample':
      return `Let ${server} ask the model ${subject.model}?`
    case 'sampled':
      return `Give the answer of the model to ${server}?`
    case 'compose':
      return `${server} asks a model, and there is none: will you answer in its place?`
    case 'form':
      return subject.ours
        ? `The configuration of ${server} leaves something open. Fill it in?`
        : `${server} asks you for information. Answer?`
    case 'url':
      return `${server} wants you to open a page of ${subject.url.host}. Open it?`
    case 'roots':
      return `Let ${server} know of these folders?`
    case 'import':
      return 'Take these servers over?'
  }
}

/** @param isWhole nothing is folded */
export function subjectLines(subject: Subject, isWhole = false): QuestionLine[] {
  switch (subject.kind) {
    case 'launch':
      return [
        line('command', commandText(subject.command, subject.args), 'theirs'),
        ...(subject.program === undefined ? [] : [line('which runs', subject.program, 'theirs')]),
        ...(subject.files ?? []).map((file) => line('with the file', file, 'theirs')),
        line('which means', 'this program runs on your machine, with your rights'),
        line('in the folder', subject.cwd, 'theirs'),
        ...variableLines(subject),
        ...subject.fills.map((text) => line('filled in', text, 'theirs')),
        ...warnings(subject.changes),
      ]
    case 'connect':
      return [
        ...urlLines(subject.url),
        line('with the headers', subject.headerNames.map(nameText).join(', ') || 'none', 'theirs'),
        ...subject.fills.map((text) => line('filled in', text, 'theirs')),
        ...warnings(subject.changes),
      ]
    case 'approve':
      return subject.items.flatMap(itemLines)
    case 'call':
      return callLines(subject, isWhole)
    case 'result': {
      const { content, structuredContent, ...rest } = subject.result
      return [
        ...subject.findings.map(({ kind, text }) => line(kind, text, 'warning')),
        ...content.flatMap((block) => contentLines('result', block, isWhole)),
        ...(structuredContent === undefined ? [] : [valueLine('as data', structuredContent)]),
        ...restLines('result', rest),
      ]
    }
    case 'read':
      return theirs('uri', subject.uri)
    case 'prompt':
      return [...theirs('prompt', subject.name), ...argumentLines({ args: subject.args, isOwn: subject.isOwn }, isWhole)]
    case 'complete':
      return [...theirs('of', subject.of), ...argumentLines({ args: { [subject.argument]: subject.value }, isOwn: subject.isOwn }, isWhole)]
    case 'sample':
      return [
        line('model', subject.model),
        ...samplingLines(subject.params, isWhole),
        line('budget left', `${subject.budget.requestsLeft} requests, ${subject.budget.tokensLeft} tokens`, 'muted'),
      ]
    case 'sampled': {
      const { content, model, role: _role, ...rest } = subject.result
      return [
        ...contentsOf(content).flatMap((each) => contentLines('answer', each, isWhole)),
        ...theirs('model', model),
        ...restLines('answer', rest),
        line('it answers', 'what follows'),
        ...samplingLines(subject.params, isWhole),
      ]
    }
    case 'compose':
      return samplingLines(subject.params, isWhole)
    case 'form':
      return [
        ...(subject.ours ? [line('needed', subject.message)] : theirs('they say', subject.message)),
        ...formLines(subject.schema, subject.defaults),
        ...(subject.ours ? [] : secretWarnings(subject.schema)),
        ...warnings(subject.warnings),
      ]
    case 'url':
      return [...theirs('they say', subject.message), ...urlLines(subject.url)]
    case 'roots':
      return subject.roots.map(({ uri, name }) => line('folder', name === undefined ? uri : `${uri} (${name})`, 'theirs'))
    case 'import':
      return subject.servers.flatMap(({ id, where, from, env = {}, headerNames = [], warnings: texts }) => [
        line(nameText(id), where, 'theirs'),
        line('from', from, 'theirs'),
        ...variableValues(env),
        ...(headerNames.length === 0 ? [] : [line('with the headers', headerNames.map(nameText).join(', '), 'theirs')]),
        ...warnings(texts),
      ])
  }
}

function variableLines({ envNames, env }: Extract<Subject, { kind: 'launch' }>): QuestionLine[] {
  if (!env || envNames.length === 0) return [line('with the variables', envNames.map(nameText).join(', ') || 'none', 'theirs')]
  return variableValues(env)
}

const variableValues = (env: Readonly<Record<string, string>>): QuestionLine[] =>
  Object.entries(env).map(([name, value]) => line('with the variable', `${nameText(name)}=${value}`, 'theirs'))

function callLines(subject: Extract<Subject, { kind: 'call' }>, isWhole: boolean): QuestionLine[] {
  const { tool, pattern, destination, origins } = subject
  const where = { local: 'stays on this machine', private: 'goes to your own network', outside: 'goes outside' }
  return [
    ...theirs('tool', tool.name),
    ...theirs('it calls itself', tool.title),
    ...theirs('and', tool.annotations?.title),
    ...theirs('it says it does', tool.description),
    ...theirs('it says it is', hintsOf(tool.annotations)),
    line('what you send', where[destination], destination === 'outside' ? 'warning' : 'plain'),
    ...argumentLines(subject, isWhole),
    ...origins.flatMap(({ pointer, source, bytes, excerpt }) => [
      line(
        'look twice',
        `these ${bytes} bytes of ${pointer === '' ? 'the arguments' : nameText(pointer)} come from ${nameText(source)}`,
        'warning',
      ),
      ...theirs('which begin', excerpt),
    ]),
    ...(Object.keys(pattern).length === 0 ? [] : [valueLine('the pattern, if you allow more than this', pattern)]),
  ]
}

type GivenArguments = Pick<Extract<Subject, { kind: 'call' }>, 'args'> &
  Partial<Pick<Extract<Subject, { kind: 'call' }>, 'lastArgs' | 'isOwn' | 'wasOwn'>>

/** Whole, unless the person wrote them and there may be a secret of theirs among them. */
function argumentLines({ args, isOwn, lastArgs: last, wasOwn }: GivenArguments, isWhole: boolean): QuestionLine[] {
  const shown = (label: string, name: string, value: unknown, mayFold: boolean | undefined): QuestionLine => {
    const { value: short, hidden } = mayFold && !isWhole ? foldSecrets({ [name]: value }) : { value: { [name]: value }, hidden: 0 }
    return { ...valueLine(label, (short as Record<string, unknown>)[name]), ...(hidden > 0 && { folded: hidden }) }
  }
  const labelOf = (name: string): string => `argument ${nameText(name)}`
  const lines = Object.entries(args).flatMap(([name, value]): QuestionLine[] => {
    const now = shown(labelOf(name), name, value, isOwn)
    if (!last) return [now]
    if (!Object.hasOwn(last, name)) return [now, line(`${labelOf(name)} the last time`, 'not given', 'muted')]
    return isSame(value, last[name]) ? [now] : [now, shown(`${labelOf(name)} the last time`, name, last[name], wasOwn)]
  })
  if (lines.length === 0) lines.push(line('arguments', 'none'))
  const gone = Object.entries(last ?? {}).filter(([name]) => !Object.hasOwn(args, name))
  return [...lines, ...gone.map(([name, value]) => shown(`${labelOf(name)} the last time`, name, value, wasOwn))]
}

function itemLines({ kind, name, definition, difference, flags }: ApprovedItem): QuestionLine[] {
  const formerly = difference?.formerly === undefined ? '' : `, formerly ${nameText(difference.formerly)}`
  return [
    line(`${kind} ${nameText(name)}`, difference ? `${difference.class}${formerly}` : 'new'),
    ...warnings(flags),
    ...(difference?.changes ?? []).flatMap(({ pointer, text, before, after }) => [
      line('changed', `${pointer}: ${text}`, 'theirs'),
      ...(before === undefined ? [] : [valueLine('before', before)]),
      ...(after === undefined ? [] : [valueLine('now', after)]),
    ]),
    valueLine('definition', definition),
  ]
}

const URL_WARNINGS: Record<UrlWarning, string> = {
  punycode: 'the name has letters that can look like others',
  'mixed-scripts': 'one name has letters of several alphabets',
  'ip-address': 'there is no name, only an address',
  'user-info': 'there is text before an @, which can look like the name of the host',
  'unusual-port': 'it is an unusual port',
  'not-encrypted': 'the connection is not encrypted',
}

function urlLines({ href, host, hostUnicode, warnings: kinds }: PersonUrl): QuestionLine[] {
  const isHere = isLoopback(host)
  // What goes to this machine has no name and needs no encryption, and that is no reason to look twice.
  const told = isHere ? kinds.filter((kind) => kind !== 'ip-address' && kind !== 'not-encrypted') : kinds
  return [
    line('host', `${host}${hostUnicode === host ? '' : ` (written ${hostUnicode})`}${isHere ? ', this machine' : ''}`),
    line('the whole address', href, 'theirs'),
    ...warnings(told.map((kind) => URL_WARNINGS[kind])),
  ]
}

function hintsOf(annotations: ToolAnnotations | undefined): string | undefined {
  const { title: _title, ...hints } = annotations ?? {}
  const words = Object.entries(hints).map(
    ([name, value]) => `${nameText(name.replace(/Hint$/, ''))}: ${value === true ? 'yes' : value === false ? 'no' : JSON.stringify(value)}`,
  )
  return words.length === 0 ? undefined : words.join(', ')
}

const isSame = (one: unknown, other: unknown): boolean =>
  other !== undefined && one !== undefined && canonicalJson(one) === canonicalJson(other)

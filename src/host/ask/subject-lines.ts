/** What a question is about, one line a detail. Texts are as they came: describe.ts makes them fit to be shown. */

import { canonicalJson } from '../../protocol/canonical-json.ts'
import type { ContentBlock } from '../../protocol/content.ts'
import { isLoopback, type PersonUrl, type UrlWarning } from '../../protocol/person-url.ts'
import { redact } from '../../protocol/redact.ts'
import type { CreateMessageParams, SamplingContent } from '../../protocol/sampling.ts'
import type { ToolAnnotations } from '../../protocol/tools.ts'
import { commandText } from '../command-text.ts'
import { formLines, secretWarnings } from './form-lines.ts'
import type { ApprovedItem, Subject } from './question.ts'
import type { QuestionLine, Tone } from './question-line.ts'

const line = (label: string, text: string, tone: Tone = 'plain'): QuestionLine => ({ label, text, tone })
const theirs = (label: string, text: string | undefined): QuestionLine[] => (text === undefined ? [] : [line(label, text, 'theirs')])
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
      return `Let ${server} run ${subject.tool.name}?`
    case 'result':
      return `Let what ${subject.tool} of ${server} returned into the conversation?`
    case 'read':
      return subject.isSubscription ? `Follow ${subject.uri} at ${server}?` : `Read ${subject.uri} from ${server}?`
    case 'prompt':
      return `Use the prompt ${subject.name} of ${server}?`
    case 'complete':
      return `Let ${server} suggest how ${subject.argument} of ${subject.of} goes on?`
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

export function subjectLines(subject: Subject): QuestionLine[] {
  switch (subject.kind) {
    case 'launch':
      return [
        line('command', commandText(subject.command, subject.args)),
        ...(subject.program === undefined ? [] : [line('which runs', subject.program)]),
        ...(subject.files ?? []).map((file) => line('with the file', file)),
        line('which means', 'this program runs on your machine, with your rights'),
        line('in the folder', subject.cwd),
        ...variableLines(subject),
        ...subject.fills.map((text) => line('filled in', text)),
        ...warnings(subject.changes),
      ]
    case 'connect':
      return [
        ...urlLines(subject.url),
        line('with the headers', subject.headerNames.join(', ') || 'none'),
        ...subject.fills.map((text) => line('filled in', text)),
        ...warnings(subject.changes),
      ]
    case 'approve':
      return subject.items.flatMap(itemLines)
    case 'call':
      return callLines(subject)
    case 'result':
      return [
        ...subject.findings.map(({ kind, text }) => line(kind, text, 'warning')),
        ...subject.result.content.map((block) => line('result', contentText(block), 'theirs')),
        ...(subject.result.structuredContent === undefined ? [] : [line('as data', json(subject.result.structuredContent), 'theirs')]),
      ]
    case 'read':
      return theirs('uri', subject.uri)
    case 'prompt':
      return [...theirs('prompt', subject.name), ...argumentLines(subject.args, undefined)]
    case 'complete':
      return [...theirs('of', subject.of), ...argumentLines({ [subject.argument]: subject.value }, undefined)]
    case 'sample':
      return [
        line('model', subject.model),
        ...samplingLines(subject.params),
        line('budget left', `${subject.budget.requestsLeft} requests, ${subject.budget.tokensLeft} tokens`, 'muted'),
      ]
    case 'sampled':
      return [
        ...contentsOf(subject.result.content).map((each) => line('answer', contentText(each), 'theirs')),
        ...theirs('model', subject.result.model),
      ]
    case 'compose':
      return samplingLines(subject.params)
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
      return subject.roots.map(({ uri, name }) => line('folder', name === undefined ? uri : `${uri} (${name})`))
    case 'import':
      return subject.servers.flatMap(({ id, where, from, warnings: texts }) => [line(id, `${where} (from ${from})`), ...warnings(texts)])
  }
}

function variableLines({ envNames, env }: Extract<Subject, { kind: 'launch' }>): QuestionLine[] {
  if (!env || envNames.length === 0) return [line('with the variables', envNames.join(', ') || 'none')]
  return Object.entries(env).map(([name, value]) => line(`with the variable ${name}`, value, 'theirs'))
}

function callLines({ tool, args, pattern, lastArgs, destination, origins }: Extract<Subject, { kind: 'call' }>): QuestionLine[] {
  const where = { local: 'stays on this machine', private: 'goes to your own network', outside: 'goes outside' }
  return [
    ...theirs('tool', tool.title === undefined ? tool.name : `${tool.name} (${tool.title})`),
    ...theirs('it says it does', tool.description),
    ...theirs('it says it is', hintsOf(tool.annotations)),
    line('what you send', where[destination], destination === 'outside' ? 'warning' : 'plain'),
    ...argumentLines(args, lastArgs),
    ...origins.map(({ pointer, source, bytes, excerpt }) =>
      line('look twice', `these ${bytes} bytes of ${pointer || 'the arguments'} come from ${source}: ${excerpt}`, 'warning'),
    ),
    ...(Object.keys(pattern).length === 0 ? [] : [line('the pattern, if you allow more than this', json(pattern), 'muted')]),
  ]
}

function argumentLines(args: Readonly<Record<string, unknown>>, last: Readonly<Record<string, unknown>> | undefined): QuestionLine[] {
  const masked = redact(args) as Record<string, unknown>
  const before = (redact(last ?? {}) as Record<string, unknown>) ?? {}
  const lines = Object.entries(args).flatMap(([name, value]): QuestionLine[] => {
    const now = line(`argument ${name}`, textOf(masked[name]), 'theirs')
    if (!last || isSame(value, last[name])) return [now]
    return [now, line(`argument ${name} the last time`, Object.hasOwn(last, name) ? textOf(before[name]) : 'not given', 'muted')]
  })
  if (lines.length === 0) lines.push(line('arguments', 'none'))
  const gone = Object.keys(last ?? {}).filter((name) => !Object.hasOwn(args, name))
  return [...lines, ...gone.map((name) => line(`argument ${name} the last time`, textOf(before[name]), 'muted'))]
}

function itemLines({ kind, name, definition, difference, flags }: ApprovedItem): QuestionLine[] {
  return [
    line(`${kind} ${name}`, difference ? `${difference.class}${difference.formerly ? `, formerly ${difference.formerly}` : ''}` : 'new'),
    ...warnings(flags),
    ...(difference?.changes ?? []).flatMap(({ pointer, text, before, after }) => [
      line('changed', `${pointer}: ${text}`),
      ...(before === undefined ? [] : [line('before', textOf(before), 'theirs')]),
      ...(after === undefined ? [] : [line('now', textOf(after), 'theirs')]),
    ]),
    ...theirs('definition', textOf(definition)),
  ]
}

function samplingLines(params: CreateMessageParams): QuestionLine[] {
  const { messages, systemPrompt, tools, maxTokens, temperature, stopSequences, includeContext, modelPreferences, toolChoice, metadata } =
    params
  const settings = { maxTokens, temperature, stopSequences, includeContext, modelPreferences, toolChoice, metadata }
  return [
    ...theirs('system prompt', systemPrompt),
    ...messages.flatMap(({ role, content }) => contentsOf(content).map((each) => line(role, contentText(each), 'theirs'))),
    ...(tools ?? []).map((tool) => line(`tool ${tool.name}`, json(tool), 'theirs')),
    ...Object.entries(settings).flatMap(([name, value]) => (value === undefined ? [] : [line(name, textOf(value), 'theirs')])),
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
  const words = Object.entries(hints).map(([name, value]) => `${name.replace(/Hint$/, '')}: ${value ? 'yes' : 'no'}`)
  return words.length === 0 ? undefined : words.join(', ')
}

const contentsOf = <T>(content: T | readonly T[]): readonly T[] => (Array.isArray(content) ? content : [content as T])

function contentText(content: ContentBlock | SamplingContent): string {
  switch (content.type) {
    case 'text':
      return content.text
    case 'image':
    case 'audio':
      return `[${content.type} ${content.mimeType}, ${Math.floor((content.data.length * 3) / 4)} bytes]`
    case 'resource':
      return 'text' in content.resource ? `${content.resource.uri}\n${content.resource.text}` : `[${content.resource.uri}, not a text]`
    case 'tool_result':
      return [`result of ${content.toolUseId}`, ...content.content.map(contentText)].join('\n')
    default:
      return json(content)
  }
}

const isSame = (one: unknown, other: unknown): boolean =>
  other !== undefined && one !== undefined && canonicalJson(one) === canonicalJson(other)

const textOf = (value: unknown): string => (typeof value === 'string' ? value : json(value))

const json = (value: unknown): string => JSON.stringify(redact(value), undefined, 2) ?? 'nothing'

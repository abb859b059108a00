/** One server in the shape that most clients share: a command with arguments and environment, or a URL with headers. */

import { partsOf } from '../launch/placeholder.ts'
import type { HttpTransport, StdioTransport } from '../model/server-spec.ts'
import { addressProblem } from './address.ts'
import type { Draft, Reading } from './dialect.ts'
import type { Translate } from './foreign-text.ts'
import { type Members, membersOf } from './members.ts'
import { Refused, within } from './problem.ts'

export interface EntryShape {
  translate: Translate
  /** Members that may hold the URL, the first that is there wins. */
  urls?: readonly string[]
  env?: string
  headers?: string
  /** How long one unit of the member `timeout` is. */
  timeoutUnitMs?: number
  /** Members that say something about the user interface of the client, or about how it finds the server. */
  passed?: readonly string[]
}

/** What lets a server do things without a question. Here that is decided here, and a file of somebody else is no decision. */
const APPROVALS = ['autoApprove', 'alwaysAllow', 'autoapprove', 'trust', 'always_allow', 'alwaysApprove', 'approvalMode', 'trusted']
/** What would run something or read another file before the server is started. */
const ACTS: Readonly<Record<string, string>> = {
  headersHelper: 'The program that makes headers is not run',
  envFile: 'The file with variables is not read; what the server needs can be put under env',
  oauth: 'Settings of a login are not taken over; the host finds them by itself, or asks',
  auth: 'Settings of a login are not taken over; the host finds them by itself, or asks',
  sandbox: 'The sandbox of the client is not taken over',
}

export function readEntry(entry: Members, shape: EntryShape, report: Reading['problem']): Draft {
  const { translate, urls = ['url'], timeoutUnitMs = 1 } = shape
  const type = typeIn(entry)
  const command = entry.text('command')
  const url = urls.map((name) => entry.text(name)).find((text) => text !== undefined)
  if (command !== undefined && url !== undefined)
    throw new Refused(entry.where, 'It has a command and a URL; only one of them can be meant')
  const args = entry.texts('args')
  const env = entry.table(shape.env ?? 'env')
  const cwd = entry.text('cwd')
  const headers = entry.table(shape.headers ?? 'headers')
  let transport: StdioTransport | HttpTransport
  if (command !== undefined) transport = processWay(entry.where, { command, args, env, cwd }, translate)
  else if (url !== undefined) transport = httpWay(entry.where, { url, headers }, translate)
  else
    throw new Refused(entry.where, `It has neither a command nor a URL${type === undefined ? '' : `, and is said to be of type ${type}`}`)
  const disabled = entry.flag('disabled') ?? negated(entry.flag('enabled'))
  const timeoutMs = timeoutIn(entry, 'timeout', timeoutUnitMs)
  entry.pass('description', ...(shape.passed ?? []))
  for (const name of APPROVALS) {
    if (entry.has(name)) report(within(entry.where, name), 'What may be done without a question is not taken over')
  }
  for (const [name, text] of Object.entries(ACTS)) if (entry.has(name)) report(within(entry.where, name), text)
  return { transport, ...(disabled !== undefined && { isDisabled: disabled }), ...(timeoutMs !== undefined && { timeoutMs }) }
}

/** Every member of an object as one server. */
export function readEntries(
  servers: Members | undefined,
  reading: Reading,
  read: (entry: Members, name: string) => Draft | undefined,
): void {
  for (const [name, value] of servers?.entries() ?? []) {
    const where = within(servers?.where ?? '', name)
    reading.server(name, where, () => {
      const entry = membersOf(value, where)
      const draft = read(entry, name)
      if (draft) entry.finish(reading.problem)
      return draft
    })
  }
}

export const negated = (flag: boolean | undefined): boolean | undefined => (flag === undefined ? undefined : !flag)

/** `remote` and `local` are what some call HTTP and a process. */
const TYPES = ['stdio', 'local', 'http', 'sse', 'streamable-http', 'streamableHttp', 'streamable_http', 'remote']

function typeIn(entry: Members): string | undefined {
  const type = entry.text('type') ?? entry.text('transport')
  if (type !== undefined && !TYPES.includes(type))
    throw new Refused(within(entry.where, 'type'), `A transport was expected: ${TYPES.join(', ')}`)
  return type
}

interface ProcessTexts {
  command: string
  args?: readonly string[] | undefined
  env?: Readonly<Record<string, string>> | undefined
  cwd?: string | undefined
}

export function processWay(where: string, { command, args = [], env = {}, cwd }: ProcessTexts, translate: Translate): StdioTransport {
  if (command.trim() === '') throw new Refused(within(where, 'command'), 'The command is empty')
  const transport: StdioTransport = {
    type: 'stdio',
    command: translate(command, within(where, 'command')),
    args: args.map((text, i) => translate(text, `${within(where, 'args')}[${i}]`)),
    env: mapped(env, within(where, 'env'), translate),
    ...(cwd !== undefined && { cwd: translate(cwd, within(where, 'cwd')) }),
  }
  for (const name of Object.keys(env)) {
    if (name === '' || /[=\0]/.test(name)) throw new Refused(within(where, 'env'), 'A variable cannot have this name')
  }
  // The system would take what stands before it, and a person would be shown another command than is run.
  if (JSON.stringify(transport).includes('\\u0000')) throw new Refused(where, 'There is a NUL character in it')
  return transport
}

interface HttpTexts {
  url: string
  headers?: Readonly<Record<string, string>> | undefined
}

export function httpWay(where: string, { url, headers = {} }: HttpTexts, translate: Translate): HttpTransport {
  const place = within(where, 'url')
  const text = translate(url.trim(), place)
  const scheme = /^([A-Za-z][A-Za-z0-9+.-]{0,30}):/.exec(text)?.[1]?.toLowerCase()
  if (scheme === 'unix' || scheme === 'pipe') {
    throw new Refused(
      place,
      `The server is reached over a ${scheme === 'unix' ? 'socket of the file system' : 'named pipe'} (${scheme}:), which is not supported`,
    )
  }
  if (scheme !== undefined && scheme !== 'http' && scheme !== 'https')
    throw new Refused(place, 'A URL that begins with https: or http: was expected')
  if (!partsOf(text).some((part) => 'placeholder' in part) && !URL.canParse(text)) throw new Refused(place, 'This is no URL')
  const problem = addressProblem(text)
  if (problem !== undefined) throw new Refused(place, problem)
  for (const name of Object.keys(headers))
    if (!HEADER_NAME.test(name)) throw new Refused(within(where, 'headers'), 'A header cannot have this name')
  return { type: 'http', url: text, headers: mapped(headers, within(where, 'headers'), translate) }
}

const HEADER_NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,256}$/

const mapped = (values: Readonly<Record<string, string>>, where: string, translate: Translate): Record<string, string> =>
  Object.fromEntries(Object.entries(values).map(([name, text]) => [name, translate(text, within(where, name))]))

const MAX_TIMEOUT_MS = 24 * 60 * 60_000

export function timeoutIn(entry: Members, name: string, unitMs: number): number | undefined {
  const timeout = entry.number(name)
  if (timeout === undefined) return undefined
  const timeoutMs = Math.round(timeout * unitMs)
  if (timeoutMs >= 1 && timeoutMs <= MAX_TIMEOUT_MS) return timeoutMs
  throw new Refused(within(entry.where, name), 'A time of at least a millisecond and at most a day was expected')
}

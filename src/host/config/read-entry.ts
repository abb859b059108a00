/** Reads one server entry in the shape most clients share: a command with arguments and environment, or a URL with headers. */

import type { HttpTransport, StdioTransport } from '../model/server-spec.ts'
import { partsOf } from '../server-command/placeholder.ts'
import { checkPlaceholders } from './address.ts'
import type { Translate } from './foreign-text.ts'
import type { FormatContext, ServerDraft } from './format.ts'
import { Refused, within } from './problem.ts'
import { type Members, readMembers } from './read-members.ts'

export interface EntryShape {
  translate: Translate
  /** Members that may contain the URL. The first one present is used. Default: `url`. */
  urls?: readonly string[]
  env?: string
  headers?: string
  /** The unit of the member `timeout`. Default: 1 (milliseconds). */
  timeoutUnitMs?: number
  /** Members to ignore: they are about the client's user interface or about how it finds the server. */
  passed?: readonly string[]
}

export const APPROVALS_IGNORED = 'Ignored: approvals of another client do not apply here'
export const LOGIN_IGNORED = 'Ignored: the host discovers the login settings itself, or asks'
export const SANDBOX_IGNORED = "Ignored: the client's sandbox is not used here"
export const BOTH_TRANSPORTS = 'The entry has both a command and a URL: expected one of them'

/** Members that allow actions without a question. They are ignored: only this host's own policy may allow actions. */
const APPROVALS = ['autoApprove', 'alwaysAllow', 'autoapprove', 'trust', 'always_allow', 'alwaysApprove', 'approvalMode', 'trusted']
/** Members that would run a program, read another file or change how the server is started. */
const IGNORED: Readonly<Record<string, string>> = {
  headersHelper: 'Ignored: the program that creates headers is not run',
  envFile: 'Ignored: the file is not read. Put the variables that the server needs under env',
  oauth: LOGIN_IGNORED,
  auth: LOGIN_IGNORED,
  sandbox: SANDBOX_IGNORED,
}

export function readEntry(entry: Members, shape: EntryShape, report: FormatContext['problem']): ServerDraft {
  const { translate, urls = ['url'], timeoutUnitMs = 1 } = shape
  const type = readType(entry)
  const command = entry.text('command')
  const url = urls.map((name) => entry.text(name)).find((text) => text !== undefined)
  if (command !== undefined && url !== undefined) throw new Refused(entry.where, BOTH_TRANSPORTS)
  const args = entry.texts('args')
  const env = entry.table(shape.env ?? 'env')
  const cwd = entry.text('cwd')
  const headers = entry.table(shape.headers ?? 'headers')
  let transport: StdioTransport | HttpTransport
  if (command !== undefined) transport = stdioTransport(entry.where, { command, args, env, cwd }, translate)
  else if (url !== undefined) transport = httpTransport(entry.where, { url, headers }, translate)
  else throw new Refused(entry.where, `The entry has neither a command nor a URL${type === undefined ? '' : ` (type: ${type})`}`)
  const disabled = entry.flag('disabled') ?? negated(entry.flag('enabled'))
  const timeoutMs = readTimeout(entry, 'timeout', timeoutUnitMs)
  entry.pass('description', ...(shape.passed ?? []))
  for (const name of APPROVALS) {
    if (entry.has(name)) report(within(entry.where, name), APPROVALS_IGNORED)
  }
  for (const [name, text] of Object.entries(IGNORED)) if (entry.has(name)) report(within(entry.where, name), text)
  return { transport, isDisabled: disabled, timeoutMs }
}

/** Reads every member of an object as one server. */
export function readEntries(
  servers: Members | undefined,
  reading: FormatContext,
  read: (entry: Members, name: string) => ServerDraft | undefined,
): void {
  for (const [name, value] of servers?.entries() ?? []) {
    const where = within(servers?.where ?? '', name)
    reading.server(name, where, () => {
      const entry = readMembers(value, where)
      const draft = read(entry, name)
      if (draft) entry.finish(reading.problem)
      return draft
    })
  }
}

export const negated = (flag: boolean | undefined): boolean | undefined => (flag === undefined ? undefined : !flag)

/** Some clients write `remote` for HTTP and `local` for a process. */
const TYPES = ['stdio', 'local', 'http', 'sse', 'streamable-http', 'streamableHttp', 'streamable_http', 'remote']

function readType(entry: Members): string | undefined {
  const type = entry.text('type') ?? entry.text('transport')
  if (type !== undefined && !TYPES.includes(type)) throw new Refused(within(entry.where, 'type'), `Expected one of ${TYPES.join(', ')}`)
  return type
}

interface ProcessTexts {
  command: string
  args?: readonly string[] | undefined
  env?: Readonly<Record<string, string>> | undefined
  cwd?: string | undefined
}

export function stdioTransport(where: string, { command, args = [], env = {}, cwd }: ProcessTexts, translate: Translate): StdioTransport {
  if (command.trim() === '') throw new Refused(within(where, 'command'), 'The command is empty')
  const transport: StdioTransport = {
    type: 'stdio',
    command: translate(command, within(where, 'command')),
    args: args.map((text, i) => translate(text, `${within(where, 'args')}[${i}]`)),
    env: mapped(env, within(where, 'env'), translate),
    ...(cwd !== undefined && { cwd: translate(cwd, within(where, 'cwd')) }),
  }
  for (const name of Object.keys(env)) {
    if (name === '' || /[=\0]/.test(name)) throw new Refused(within(where, 'env'), 'Invalid name of an environment variable')
  }
  // The operating system stops at NUL, so a different command would run than the person approved.
  if (JSON.stringify(transport).includes('\\u0000')) throw new Refused(where, 'The entry contains a NUL character')
  return transport
}

interface HttpTexts {
  url: string
  headers?: Readonly<Record<string, string>> | undefined
}

export function httpTransport(where: string, { url, headers = {} }: HttpTexts, translate: Translate): HttpTransport {
  const place = within(where, 'url')
  const text = translate(url.trim(), place)
  const scheme = /^([A-Za-z][A-Za-z0-9+.-]{0,30}):/.exec(text)?.[1]?.toLowerCase()
  if (scheme === 'unix' || scheme === 'pipe') {
    throw new Refused(
      place,
      `${scheme === 'unix' ? 'Unix sockets (unix:)' : 'Named pipes (pipe:)'} are not supported: expected an http: or https: URL`,
    )
  }
  if (scheme !== undefined && scheme !== 'http' && scheme !== 'https')
    throw new Refused(place, `Expected an http: or https: URL, got ${scheme}:`)
  if (!partsOf(text).some((part) => 'placeholder' in part) && !URL.canParse(text)) throw new Refused(place, 'Invalid URL')
  const problem = checkPlaceholders(text)
  if (problem !== undefined) throw new Refused(place, problem)
  for (const name of Object.keys(headers)) if (!HEADER_NAME.test(name)) throw new Refused(within(where, 'headers'), 'Invalid header name')
  return { type: 'http', url: text, headers: mapped(headers, within(where, 'headers'), translate) }
}

const HEADER_NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,256}$/

const mapped = (values: Readonly<Record<string, string>>, where: string, translate: Translate): Record<string, string> =>
  Object.fromEntries(Object.entries(values).map(([name, text]) => [name, translate(text, within(where, name))]))

const MAX_TIMEOUT_MS = 24 * 60 * 60_000

export function readTimeout(entry: Members, name: string, unitMs: number): number | undefined {
  const timeout = entry.number(name)
  if (timeout === undefined) return undefined
  const timeoutMs = Math.round(timeout * unitMs)
  if (timeoutMs >= 1 && timeoutMs <= MAX_TIMEOUT_MS) return timeoutMs
  throw new Refused(within(entry.where, name), 'Expected a time from one millisecond to one day')
}

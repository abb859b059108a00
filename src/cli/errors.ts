/** Turns errors into messages: expected and actual, what to do, and the exit code. */

import { asText } from '../base/as-text.ts'
import { isObject } from '../base/json.ts'
import { Cancelled, Declined, McpError, RemoteError } from '../client/index.ts'
import { type ExitName, exitNameOf } from './exit-codes.ts'
import { nearest } from './nearest.ts'
import { type SafeText, safe, untrusted, untrustedLines } from './output/safe-text.ts'

/** The command line is wrong. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
  readonly hint: string | undefined

  constructor(message: string, hint?: string) {
    super(message)
    this.hint = hint
  }
}

/** The command line is right, but the command cannot do it here and now. */
export class CommandFailure extends Error {
  override readonly name = 'CommandFailure'
  readonly hint: string | undefined

  constructor(message: string, hint?: string) {
    super(message)
    this.hint = hint
  }
}

/** The person pressed Ctrl-C. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted'

  constructor(what = 'Interrupted') {
    super(what)
  }
}

/** The error for an unknown name, with the nearest known one. @param kind `tool`, `server`, ... */
export function unknownName(kind: string, typed: string, names: readonly string[], where = ''): UsageError {
  const begun = names.filter((name) => typed.length >= 3 && name.toLowerCase().startsWith(typed.toLowerCase())).slice(0, 4)
  // Several names that begin so are all meant before one that is spelled alike.
  const meant = begun.length > 1 ? undefined : (begun[0] ?? nearest(typed, names))
  const listed = names.slice(0, 12).join(', ')
  const rest = names.length > 12 ? ` and ${names.length - 12} more` : ''
  return new UsageError(
    `Unknown ${kind} ${JSON.stringify(typed)}${where === '' ? '' : ` ${where}`}`,
    meant !== undefined
      ? `Did you mean ${JSON.stringify(meant)}?`
      : begun.length > 0
        ? `Did you mean ${begun.map((name) => JSON.stringify(name)).join(' or ')}?`
        : names.length === 0
          ? `There are no ${kind}s.`
          : `Available: ${listed}${rest}`,
  )
}

/** Servers that only the shell has. */
const SAMPLES: readonly string[] = ['notes', 'deploy', 'rogue']

/** The error for a server that is not configured. */
export const unknownServer = (typed: string, names: readonly string[]): UsageError =>
  SAMPLES.includes(typed)
    ? new UsageError(`${typed} is a sample of the shell; it is not configured`, 'Add your own: portico servers add')
    : unknownName('server', typed, names, '(add it with "portico servers add")')

export interface ExplainedError {
  exit: ExitName
  message: SafeText
  hint: SafeText | undefined
  /** For `--json`. */
  json: { error: { kind: string; code?: string | number; message: string; hint?: string; data?: unknown } }
}

/** What an error says depends on how the command can ask a person. */
export interface AskingFacts {
  /** The command has the option `--inbox`. */
  hasInbox: boolean
  /** The option was given, so questions wait in the inbox. */
  isParking: boolean
  /** The person types at the prompt of the shell. Default: false. */
  isShell?: boolean
}

const AT_A_TERMINAL: AskingFacts = { hasInbox: false, isParking: false }

export function explainError(error: unknown, asking: AskingFacts = AT_A_TERMINAL): ExplainedError {
  if (error instanceof UsageError) return explained('usage', error.message, { kind: 'usage' }, error.hint)
  if (error instanceof CommandFailure) return explained('failed', error.message, { kind: 'local' }, error.hint)
  if (error instanceof Interrupted) return explained('interrupted', error.message, { kind: 'interrupted' })
  if (error instanceof Declined || error instanceof Cancelled)
    return explained('denied', `You declined: ${error.message}`, { kind: 'denied' })
  if (error instanceof RemoteError) {
    const { code, data } = error
    const hint = needsTerminal(data) ? IN_A_TERMINAL : undefined
    return explained('failed', `The server answered with an error: ${error.message} (${code})`, { kind: 'remote', code, data }, hint)
  }
  if (error instanceof McpError) {
    const { code, data } = error
    const message = withoutProgramAdvice(error)
    return explained(exitNameOf(code), `${message} (${code})`, { kind: 'local', code, data }, adviceFor(error, asking))
  }
  const { message = asText(error), code } = (error ?? {}) as { message?: string; code?: string }
  return explained('failed', message, { kind: 'internal', ...(typeof code === 'string' && { code }) })
}

/** What a program should do. The hint below an error says it for the command, and knows its options. */
const PROGRAM_ADVICE = /\. (?:Run it once in a terminal, add a rule |Set `answer`, ).*$/s

function withoutProgramAdvice({ code, message, data }: McpError): string {
  if (code === 'ERR_AUTH' && isObject(data) && typeof data.refusal === 'string') return data.refusal
  return code === 'ERR_CONSENT' || needsTerminal(data) ? message.replace(PROGRAM_ADVICE, '') : message
}

const IN_A_TERMINAL = 'Run the command in a terminal, where you can answer'

function explained(
  exit: ExitName,
  message: string,
  about: Omit<ExplainedError['json']['error'], 'message' | 'hint'>,
  hint?: string,
): ExplainedError {
  return {
    exit,
    message: untrustedLines(message),
    hint: hint === undefined ? undefined : safe`${untrusted(hint)}`,
    json: { error: { ...about, message, ...(hint !== undefined && { hint }) } },
  }
}

function adviceFor({ code, data }: McpError, asking: AskingFacts): string | undefined {
  switch (code) {
    case 'ERR_CAPABILITY_MISSING':
      return needsTerminal(data) ? IN_A_TERMINAL : undefined
    case 'ERR_SPAWN':
      return 'Give the program and its arguments after --, for example: portico run -- npx some-server'
    case 'ERR_NETWORK':
    case 'ERR_NO_ENDPOINT':
    case 'ERR_HTTP':
      if (isObject(data) && data.reason === 'store_down') return 'The server runs, but its store is down. Its log says why; try again later'
      return `"portico doctor ${serverIn(data) ?? 'URL'}" shows which step fails`
    case 'ERR_INSECURE':
      return 'Use --insecure to allow an unencrypted connection'
    case 'ERR_AUTH':
      return loginAdvice(data)
    case 'ERR_CONSENT':
      return consentAdvice(asking)
    case 'ERR_QUARANTINED':
      return asking.isShell
        ? `Review the change and decide: approve ${serverIn(data) ?? 'NAME'}`
        : `Review the change with "portico pins diff ${serverIn(data) ?? 'NAME'}", approve it with "portico pins accept"`
    case 'ERR_DENIED': {
      const { by, feedback } = (data ?? {}) as { by?: unknown; feedback?: unknown }
      if (typeof feedback === 'string') return `Reason: ${feedback}`
      return by === 'person' ? undefined : '"portico policy explain" shows the rule'
    }
    default:
      return undefined
  }
}

function loginAdvice(data: unknown): string {
  if (isObject(data) && data.reason === 'refused') {
    if (data.isKeyRefused === true) return `The server did not accept the key in the header ${asText(data.header)}. Check the key`
    const option = data.header === 'authorization' ? 'Authorization: Bearer KEY' : `${asText(data.header)}: KEY`
    return `If it gave you a key, send it with -H '${option}' (for a configured server: add it again with this option)`
  }
  return 'Log in with "portico servers login NAME"; "portico doctor URL" shows what the server requires'
}

/** The server that an error of the host is about. */
const serverIn = (data: unknown): string | undefined => (isObject(data) && typeof data.server === 'string' ? data.server : undefined)

function consentAdvice({ hasInbox, isParking }: AskingFacts): string {
  if (isParking) return 'No one answered with "portico inbox answer" in time; run the command again'
  const inbox = hasInbox ? ', or use --inbox and answer with "portico inbox answer"' : ''
  return `Run the command in a terminal${inbox === '' ? ', or' : ','} add a rule that allows it ("portico help policy")${inbox}`
}

/** Without a terminal the command declares that it cannot show questions, and servers answer with this. */
const needsTerminal = (data: unknown): boolean =>
  isObject(data) &&
  isObject(data.requiredCapabilities) &&
  ('elicitation' in data.requiredCapabilities || 'sampling' in data.requiredCapabilities)

/** Removes secrets from everything that leaves the host, because servers may repeat the secrets that they were given. */

import type { HostEvent, ServerLog } from '../model/event.ts'
import type { Health } from '../model/health.ts'
import type { Offering } from '../model/offering.ts'
import type { Asker, Question } from '../model/question.ts'
import type { Redactor } from './redactor.ts'

/** Changes the error itself, because callers look at its class and its code. Its causes and its stack are redacted too. */
export function redactError<E>(error: E, secrets: Redactor): E {
  let each: unknown = error
  for (let depth = 0; each instanceof Error && depth < MAX_CAUSES; depth++) {
    redactText(each, 'message', secrets)
    redactText(each, 'stack', secrets)
    // System errors have the program and its arguments as members.
    const { cause, ...rest } = each
    Object.assign(each, redactValue(rest, secrets))
    each = cause
  }
  return error
}

/** Defined and not assigned: an AbortError has its message from its class. */
function redactText(error: Error, member: 'message' | 'stack', secrets: Redactor): void {
  const text = error[member]
  const clean = text === undefined ? undefined : secrets.scrub(text)
  if (clean !== text) Object.defineProperty(error, member, { value: clean, configurable: true, writable: true })
}

const MAX_CAUSES = 16

/** Members of a definition with text for readers. The other members must not change. */
const TEXTS = new Set(['title', 'description', 'default', 'examples', '$comment'])

/**
 * Removes secrets from the texts of definitions, because definitions are stored and models read them. A definition with a secret in a
 * name, a URI or a listed value cannot be used without it, so it is left out.
 */
export function redactOffering(offering: Offering, secrets: Redactor, onWarning: (text: string) => void = () => {}): Offering {
  if (secrets.isEmpty) return offering
  const clean = <Item extends { name: string }>(kind: string, items: readonly Item[]): readonly Item[] => {
    const scrubbed = scrubbedTexts(items, secrets)
    const kept = scrubbed.filter((item) => !hasSecret(item, secrets))
    const left = scrubbed.length - kept.length
    if (left > 0) onWarning(`${kind} left out: ${left}. A name or a value in their definitions contains a secret`)
    return left === 0 ? scrubbed : kept
  }
  const { info, instructions, tools, prompts, resources, templates, skills } = offering
  return {
    ...offering,
    info: info && scrubbedTexts(info, secrets),
    instructions: instructions === undefined ? undefined : secrets.scrub(instructions),
    tools: clean('tools', tools),
    prompts: clean('prompts', prompts),
    resources: clean('resources', resources),
    templates: clean('templates', templates),
    // Not scrubbed: the frontmatter of the file would differ from its entry.
    ...(skills && { skills: withoutSecrets(skills, secrets, onWarning) }),
  }
}

function withoutSecrets<Item>(skills: readonly Item[], secrets: Redactor, onWarning: (text: string) => void): readonly Item[] {
  const kept = skills.filter((skill) => !hasSecret(skill, secrets))
  if (kept.length < skills.length) onWarning(`skills left out: ${skills.length - kept.length}. Their entries contain a secret`)
  return kept
}

/** Names and values that schemas have anyway. A password may equal one of them, but is not revealed there. */
const USUAL = new Set(
  'object string number integer boolean array null type name title description properties required items enum const default uri uriTemplate mimeType inputSchema outputSchema annotations arguments additionalProperties'.split(
    ' ',
  ),
)

function hasSecret(value: unknown, secrets: Redactor): boolean {
  const isSecret = (text: string): boolean => !USUAL.has(text) && secrets.scrub(text) !== text
  if (typeof value === 'string') return isSecret(value)
  if (Array.isArray(value)) return value.some((each) => hasSecret(each, secrets))
  return isPlain(value) && Object.entries(value).some(([name, each]) => isSecret(name) || hasSecret(each, secrets))
}

/** Returns the same object if it contains no secret. */
function scrubbedTexts<T>(value: T, secrets: Redactor, isText = false): T {
  if (typeof value === 'string') return isText ? (secrets.scrub(value) as T) : value
  if (Array.isArray(value)) {
    const items = value.map((each) => scrubbedTexts(each, secrets, isText))
    return items.some((each, at) => each !== value[at]) ? (items as T) : value
  }
  if (!isPlain(value)) return value
  const members = Object.entries(value).map(([name, each]) => [name, each, scrubbedTexts(each, secrets, TEXTS.has(name))] as const)
  return members.some(([, before, after]) => before !== after)
    ? (Object.fromEntries(members.map(([name, , after]) => [name, after])) as T)
    : value
}

/** Members with fixed words. A password may equal such a word, but is not revealed there. */
const TELLING = new Set(['kind', 'type', 'class', 'code', 'role', 'level', 'destination'])

/** Returns a copy without secrets, or the value itself if no secret is known. */
export const redactValue = <T>(value: T, secrets: Redactor, scrub: Scrub = (text) => secrets.scrub(text)): T =>
  secrets.isEmpty ? value : scrubbedCopy(value, scrub)

type Scrub = (text: string) => string

/** Members of the host have such names. They must stay, also if a password equals one of them. */
const HOST_NAME = /^[a-z]{1,20}$/i

function scrubbedCopy<T>(value: T, scrub: Scrub): T {
  if (typeof value === 'string') return scrub(value) as T
  if (Array.isArray(value)) return value.map((each) => scrubbedCopy(each, scrub)) as T
  if (!isPlain(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [
      HOST_NAME.test(name) ? name : scrub(name),
      TELLING.has(name) ? each : scrubbedCopy(each, scrub),
    ]),
  ) as T
}

const isPlain = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && [Object.prototype, null].includes(Object.getPrototypeOf(value))

/** Replaces secrets in questions by their handles, so that the person sees which of their secrets a server repeats. */
export function redactingAsker(asker: Asker, secrets: Redactor): Asker {
  const redacted = (question: Question): Question => {
    const { server, chain, reasons, subject } = question
    const texts = redactValue({ title: server.title, where: server.where, chain, reasons, subject }, secrets, secrets.withHandles)
    const { title, where, ...rest } = texts
    return { ...question, ...rest, server: { ...server, title, where } }
  }
  return {
    ask: (question, signal) => asker.ask(redacted(question), signal),
    ...(asker.askTogether && {
      askTogether: (questions, signal) => (asker as Required<Asker>).askTogether(questions.map(redacted), signal),
    }),
  }
}

export function redactHealth(health: Health, secrets: Redactor): Health {
  if (health.state === 'refused') redactError(health.error, secrets)
  if (health.state === 'waiting' || health.state === 'open-circuit') redactError(health.lastError, secrets)
  return health
}

export function redactEvent(event: HostEvent, secrets: Redactor): HostEvent {
  switch (event.kind) {
    case 'warning':
      return { ...event, text: secrets.scrub(event.text) }
    case 'health':
      return { ...event, health: redactHealth(event.health, secrets) }
    case 'log':
      return { ...event, log: scrubbedLog(event.log, secrets) }
    case 'review':
      return { ...event, review: redactValue(event.review, secrets) }
    default:
      return event
  }
}

const scrubbedLog = (log: ServerLog, secrets: Redactor): ServerLog =>
  log.kind === 'stderr' ? { ...log, line: secrets.scrub(log.line) } : { ...log, message: redactValue(log.message, secrets) }

/** What comes from servers and may repeat what they were given at their start: it leaves the host without that. */

import type { HostEvent, ServerLog } from '../model/event.ts'
import type { Health } from '../model/health.ts'
import type { Offering } from '../model/offering.ts'
import type { Asker } from '../model/question.ts'
import type { Redactor } from './redactor.ts'

/** The same error: who catches it may look for its class and its code. What it was caused by is shown with it, and so is its stack. */
export function redactError<E>(error: E, secrets: Redactor): E {
  let each: unknown = error
  for (let depth = 0; each instanceof Error && depth < MAX_CAUSES; depth++) {
    each.message = secrets.scrub(each.message)
    if (each.stack !== undefined) each.stack = secrets.scrub(each.stack)
    // Those of the system have the program and its arguments beside their message.
    const { cause, ...rest } = each
    Object.assign(each, redactValue(rest, secrets))
    each = cause
  }
  return error
}

const MAX_CAUSES = 16

/** Members of a definition that are there to be read; the others mean something as they are. */
const TEXTS = new Set(['title', 'description', 'default', 'examples', '$comment'])

/** What a server offers, without what it was given at its start: definitions are kept, and models read them. */
export function redactOffering(surface: Offering, secrets: Redactor): Offering {
  if (secrets.isEmpty) return surface
  const { info, instructions, tools, prompts, resources, templates } = surface
  return {
    ...surface,
    info: info && scrubbedTexts(info, secrets),
    instructions: instructions === undefined ? undefined : secrets.scrub(instructions),
    tools: scrubbedTexts(tools, secrets),
    prompts: scrubbedTexts(prompts, secrets),
    resources: scrubbedTexts(resources, secrets),
    templates: scrubbedTexts(templates, secrets),
  }
}

/** The same object where nothing is to be taken out. */
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

/** Members that say what a value is. A password may be one of those words, and hides nothing there. */
const TELLING = new Set(['kind', 'type', 'class', 'code', 'role', 'level', 'destination'])

/** A copy with no secret in any text of it; the value itself while no secret is known. */
export const redactValue = <T>(value: T, secrets: Redactor, scrub: Scrub = (text) => secrets.scrub(text)): T =>
  secrets.isEmpty ? value : scrubbedCopy(value, scrub)

type Scrub = (text: string) => string

function scrubbedCopy<T>(value: T, scrub: Scrub): T {
  if (typeof value === 'string') return scrub(value) as T
  if (Array.isArray(value)) return value.map((each) => scrubbedCopy(each, scrub)) as T
  if (!isPlain(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, TELLING.has(name) ? each : scrubbedCopy(each, scrub)])) as T
}

const isPlain = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && [Object.prototype, null].includes(Object.getPrototypeOf(value))

/** Whoever is asked sees what a server wrote, and servers may write what they were given. Its handle says which of the person's own it is. */
export const redactingAsker = (asker: Asker, secrets: Redactor): Asker => ({
  ask: (question, signal) => {
    const { server, chain, reasons, subject } = question
    const texts = redactValue({ title: server.title, where: server.where, chain, reasons, subject }, secrets, secrets.withHandles)
    const { title, where, ...rest } = texts
    return asker.ask({ ...question, ...rest, server: { ...server, title, where } }, signal)
  },
})

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

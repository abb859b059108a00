/** Checks messages against the rules of a protocol revision, for people who look at the traffic of a server. */

import { isObject } from '../base/json.ts'
import { METHODS } from '../protocol/methods.ts'
import { compile, type Validate } from '../protocol/schema/compile.ts'
import { revisionOf } from '../revisions/index.ts'
import { MESSAGE_SCHEMAS } from './message-schemas.ts'
import { differences } from './transcript/difference.ts'

/** A rule that a message breaks. */
export interface MessageViolation {
  /** JSON pointer into the message. */
  pointer: string
  /** What was expected and what came. */
  text: string
}

/** What is known about a message. */
export interface MessageFacts {
  from: 'client' | 'server'
  /** The negotiated revision. Undefined during the handshake: then only the form is checked. */
  revision: string | undefined
  /** The method of the request that the message answers. */
  method?: string | undefined
}

/** Enough to see what is wrong. */
const MAX_VIOLATIONS = 20

/**
 * The rules that a message breaks: its form, methods that its revision does not have, and members of newer revisions.
 *
 * @example
 * const violations = checkMessage({ jsonrpc: '2.0', id: 1, result: { tools: 'none' } }, { from: 'server', revision, method: 'tools/list' })
 */
export function checkMessage(message: unknown, facts: MessageFacts): MessageViolation[] {
  if (!isObject(message)) return [{ pointer: '', text: 'Expected an object' }]
  const invalid = message.malformed ?? message.ignored
  if (typeof invalid === 'string') return [{ pointer: '', text: invalid }]
  const found = typeof message.method === 'string' ? checkAsked(message, facts) : checkAnswer(message, facts)
  return found.slice(0, MAX_VIOLATIONS)
}

type Json = Record<string, unknown>

function checkAsked({ method, params, id }: Json, { from, revision }: MessageFacts): MessageViolation[] {
  const name = method as string
  const row = METHODS.get(name)
  const known = revisionOf(revision)
  // Methods of extensions have rules of their own.
  if (!row) return []
  const found: MessageViolation[] = []
  if (known && !known.has(name)) found.push({ pointer: '/method', text: `Revision ${known.version} has no ${name}` })
  if (row.from !== 'either' && row.from !== from)
    found.push({ pointer: '/method', text: `${name}: expected from the ${row.from}, came from the ${from}` })
  const isRequest = id !== undefined
  if (isRequest !== (row.kind === 'request'))
    found.push({ pointer: '/id', text: `${name} is a ${row.kind}: expected ${row.kind === 'request' ? 'an id' : 'no id'}` })
  found.push(...shapeFaults(`${name} params`, params ?? {}, '/params'))
  if (known && isObject(params)) found.push(...newerMembers(params, known.downgradeParams(name, params), '/params', known.version))
  return found
}

function checkAnswer({ result, error }: Json, { revision, method }: MessageFacts): MessageViolation[] {
  if (error !== undefined) return shapeFaults('error', error, '/error')
  if (method === undefined) return [{ pointer: '/id', text: 'Expected the id of an open request' }]
  // A round of a call is not its result yet, and a task has its result later.
  if (isObject(result) && (result.resultType === 'input_required' || result.resultType === 'task' || isRequestedTask(result))) return []
  const found = shapeFaults(`${method} result`, result, '/result')
  const known = revisionOf(revision)
  if (known && isObject(result)) found.push(...newerMembers(result, known.downgradeResult(method, result), '/result', known.version))
  return found
}

/** The answer to a request that asked for a task. */
const isRequestedTask = ({ task }: Json): boolean => isObject(task) && typeof task.taskId === 'string'

/** Converting a message to its own revision changes only what the revision does not have. */
const newerMembers = (value: Json, downgraded: Json, at: string, revision: string): MessageViolation[] =>
  value === downgraded
    ? []
    : differences(value, downgraded).map(({ pointer }) => ({ pointer: `${at}${pointer}`, text: `Revision ${revision} does not have this` }))

const compiled = new Map<string, Validate>()

function shapeFaults(name: string, value: unknown, at: string): MessageViolation[] {
  const schema = MESSAGE_SCHEMAS[name]
  if (!schema) return []
  const validate = compiled.get(name) ?? compile(schema)
  compiled.set(name, validate)
  const checked = validate(value)
  if (checked.ok) return []
  return checked.issues.map(({ path, message }) => ({ pointer: [at, ...path.map(escaped)].join('/'), text: message }))
}

const escaped = (part: string | number): string => String(part).replaceAll('~', '~0').replaceAll('/', '~1')

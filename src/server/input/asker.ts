/** How a handler asks the client: live in a session, by replay in stateless requests. */

import { isObject } from '../../base/json.ts'
import { McpError } from '../../protocol/errors.ts'
import type { ClientCapabilities } from '../../protocol/model/lifecycle.ts'
import type { Question } from './question.ts'

export interface Asker {
  /** The same in every round of one call. Can be used as an idempotency key. */
  readonly callId: string
  /** @param key the name of the question, unique within the call */
  ask<Answer>(key: string, question: Question<Answer>): Promise<Answer>
  /** Runs `step` once per call, also if the call takes several rounds, and remembers its JSON value. */
  once<T>(key: string, step: () => T | Promise<T>): Promise<T>
}

/** Who asks, and what the client can answer. */
export interface AskingFacts {
  /** The tool, prompt or resource whose handler asks. */
  name: string | undefined
  /** Undefined if the client could not declare any, because the transport keeps no sessions. */
  capabilities: ClientCapabilities | undefined
}

const ASKED: Readonly<Record<string, readonly [asks: string, lacks: string]>> = {
  elicitation: ['asks the user a question', 'cannot show one'],
  sampling: ['asks for an answer from a model', 'cannot give one'],
  roots: ['asks for folders to work in', 'names none'],
}

/** Throws ERR_CAPABILITY_MISSING with the missing capabilities. */
export function requireCapabilities(needs: ClientCapabilities, facts: AskingFacts): void {
  const error = capabilityError(needs, facts)
  if (error) throw error
}

/** The error for a client that lacks a capability; undefined if it has all of them. */
export function capabilityError(needs: ClientCapabilities, { name, capabilities }: AskingFacts): McpError | undefined {
  const missing = missingFrom(needs as Record<string, unknown>, (capabilities ?? {}) as Record<string, unknown>)
  if (!missing) return undefined
  const [asks, lacks] = ASKED[Object.keys(missing)[0] as string] as [string, string]
  const why = capabilities
    ? `this client ${lacks} (${describe(missing)})`
    : 'this server keeps no sessions, which this client needs for that'
  return new McpError('ERR_CAPABILITY_MISSING', `${name === undefined ? 'The server' : JSON.stringify(name)} ${asks}, and ${why}`, {
    data: { requiredCapabilities: missing },
  })
}

function missingFrom(needs: Record<string, unknown>, declared: Record<string, unknown>): Record<string, unknown> | undefined {
  const missing: Record<string, unknown> = {}
  for (const [name, need] of Object.entries(needs)) {
    const has = declared[name]
    if (!isObject(has)) missing[name] = need
    else if (isObject(need)) {
      const inner = missingFrom(need, has)
      if (inner) missing[name] = inner
    }
  }
  return Object.keys(missing).length > 0 ? missing : undefined
}

const describe = (missing: Record<string, unknown>): string =>
  Object.entries(missing)
    .map(([name, inner]) => (isObject(inner) && Object.keys(inner).length > 0 ? `${name}.${Object.keys(inner).join(`, ${name}.`)}` : name))
    .join(', ')

/** The names of questions and steps in one call. Each may be used once, because a second use looks like a replay of the first. */
export class Names {
  readonly #used = new Set<string>()

  claim(key: string): void {
    // Clients cannot answer it: messages with the key "__proto__" are refused.
    if (typeof key !== 'string' || key === '' || key.length > 128 || key === '__proto__')
      throw new McpError('ERR_ASK', 'A question or step needs a name of 1 to 128 characters, other than "__proto__"')
    if (this.#used.has(key)) throw new McpError('ERR_ASK', `Two questions or steps of one call are named ${JSON.stringify(key)}`)
    this.#used.add(key)
  }
}

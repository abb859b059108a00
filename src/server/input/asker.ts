/** How a running handler puts questions: live on a session, by replay where requests stand alone. */

import { isObject } from '../../base/json.ts'
import { McpError } from '../../protocol/errors.ts'
import type { ClientCapabilities } from '../../protocol/model/lifecycle.ts'
import type { Question } from './question.ts'

export interface Asker {
  /** The same in every round of one call: an idempotency key for its last effect. */
  readonly callId: string
  /** @param key names the question within the call */
  ask<Answer>(key: string, question: Question<Answer>): Promise<Answer>
  /** Runs `step` once in the life of the call and remembers its JSON value. */
  once<T>(key: string, step: () => T | Promise<T>): Promise<T>
}

/** Throws ERR_CAPABILITY_MISSING with what is missing, so that a client can tell its user. */
export function requireCapabilities(needs: ClientCapabilities, declared: ClientCapabilities): void {
  const missing = missingFrom(needs as Record<string, unknown>, declared as Record<string, unknown>)
  if (!missing) return
  throw new McpError('ERR_CAPABILITY_MISSING', `The client has not declared ${describe(missing)}`, {
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

/** A name is used for one question or step of a call: a second use could not be told from a replay of the first. */
export class Names {
  readonly #used = new Set<string>()

  claim(key: string): void {
    if (typeof key !== 'string' || key === '' || key.length > 128)
      throw new McpError('ERR_ASK', 'A question or step needs a name of 1 to 128 characters')
    if (this.#used.has(key)) throw new McpError('ERR_ASK', `Two questions or steps of one call are named ${JSON.stringify(key)}`)
    this.#used.add(key)
  }
}

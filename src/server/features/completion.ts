/** Completion: suggestions for arguments, filtered and ranked here so that a completer may return all candidates. */

import { asText } from '../../base/as-text.ts'
import { isObject } from '../../base/json.ts'
import type { Params } from '../../jsonrpc/message.ts'
import { McpError } from '../../protocol/errors.ts'
import { demand } from '../../protocol/interfaces/access.ts'
import { type Completion, MAX_COMPLETION_VALUES } from '../../protocol/model/completion.ts'
import { uriTemplate } from '../../protocol/uri-template/index.ts'
import type { FeatureEnvironment } from '../feature-environment.ts'
import type { IncomingCall } from '../incoming-call.ts'
import { runHandler } from '../run-handler.ts'
import type { Completer, Completers, Found } from './completer.ts'
import type { Prompts } from './prompts.ts'
import { notFound, type Resources } from './resources.ts'

/** The maximum length of the typed text. Ranking compares it with every candidate. */
const MAX_VALUE_LENGTH = 4096

export class Completions {
  readonly #environment: FeatureEnvironment
  readonly #prompts: Prompts
  readonly #resources: Resources

  constructor(environment: FeatureEnvironment, prompts: Prompts, resources: Resources) {
    this.#environment = environment
    this.#prompts = prompts
    this.#resources = resources
  }

  get isOffered(): boolean {
    return this.#prompts.hadCompleters || this.#resources.hadCompleters
  }

  complete(call: IncomingCall): Params | Promise<Params> {
    const { ref, argument, context } = call.params
    if (!isObject(ref)) throw new McpError('ERR_INVALID_PARAMS', 'params.ref must be an object')
    if (!isObject(argument) || typeof argument.name !== 'string' || typeof argument.value !== 'string') {
      throw new McpError('ERR_INVALID_PARAMS', 'params.argument must have the strings "name" and "value"')
    }
    if (argument.value.length > MAX_VALUE_LENGTH)
      throw new McpError('ERR_INVALID_PARAMS', `params.argument.value is longer than ${MAX_VALUE_LENGTH} characters`)
    const settled = isObject(context) ? readSettled(context.arguments) : {}
    demand(call.access, this.scopesOf(ref))
    const completer = this.#completerOf(ref, argument.name)
    const { limits, deadlines } = this.#environment
    const spent = call.quota.spend('completions', limits.completions)
    const { value } = argument
    const run = (): unknown => (completer as Completer)(value, { arguments: settled, caller: call.caller, signal: call.exchange.signal })
    const finish = (found: unknown): Params => ({
      completion: isCompletion(found as Found) ? cut(found as Completion) : rank(found as readonly string[], value),
    })
    const suggest = (): Params | Promise<Params> =>
      completer ? runHandler(call, run, finish, limits.handlerTimeoutMs, deadlines) : { completion: { values: [] } }
    return spent ? spent.then(suggest) : suggest()
  }

  /** Suggestions need the scopes of the prompt or template that they are for. */
  scopesOf(ref: unknown): readonly string[] | undefined {
    if (!isObject(ref)) return undefined
    return ref.type === 'ref/prompt' ? this.#prompts.scopesOf(ref.name) : this.#resources.scopesOfTemplate(ref.uri)
  }

  #completerOf(ref: Params, name: string): Completer | undefined {
    const { type } = ref
    if (type === 'ref/prompt') {
      const prompt = ref.name
      const completers = typeof prompt === 'string' ? this.#prompts.completersOf(prompt) : undefined
      if (!completers) throw new McpError('ERR_PROMPT_NOT_FOUND', `Unknown prompt: ${asText(prompt)}`)
      if (!this.#prompts.hasArgument(prompt as string, name))
        throw new McpError('ERR_INVALID_PARAMS', `The prompt ${JSON.stringify(prompt)} has no argument ${JSON.stringify(name)}`)
      return own(completers, name)
    }
    if (type === 'ref/resource') {
      const { uri } = ref
      const completers = typeof uri === 'string' ? this.#resources.completersOf(uri) : undefined
      if (!completers) throw notFound(asText(uri))
      if (!own(completers, name) && !uriTemplate(uri as string).variables.includes(name)) {
        throw new McpError('ERR_INVALID_PARAMS', `${JSON.stringify(uri)} has no variable ${JSON.stringify(name)}`)
      }
      return own(completers, name)
    }
    throw new McpError('ERR_INVALID_PARAMS', `params.ref.type must be "ref/prompt" or "ref/resource", not ${JSON.stringify(type)}`)
  }
}

const own = (completers: Completers, name: string): Completer | undefined =>
  Object.hasOwn(completers, name) ? completers[name] : undefined

function readSettled(value: unknown): Record<string, string> {
  if (value === undefined) return {}
  if (!isObject(value) || Object.values(value).some((each) => typeof each !== 'string'))
    throw new McpError('ERR_INVALID_PARAMS', 'params.context.arguments must contain strings only')
  return value as Record<string, string>
}

const isCompletion = (value: Found): value is Completion => !Array.isArray(value)

const cut = (completion: Completion): Completion =>
  completion.values.length <= MAX_COMPLETION_VALUES
    ? completion
    : {
        ...completion,
        values: completion.values.slice(0, MAX_COMPLETION_VALUES),
        total: completion.total ?? completion.values.length,
        hasMore: true,
      }

/** Ranks candidates: equal, prefix, start of a word, anywhere, letters in order. */
export function rank(candidates: readonly string[], typed: string): Completion {
  const wanted = typed.toLowerCase()
  const scored: { value: string; score: number }[] = []
  for (const value of new Set(candidates)) {
    const score = scoreOf(value.toLowerCase(), wanted)
    if (score >= 0) scored.push({ value, score })
  }
  // The sort is stable, so the completer's order is kept among equal scores.
  scored.sort((a, b) => a.score - b.score)
  const values = scored.slice(0, MAX_COMPLETION_VALUES).map(({ value }) => value)
  return { values, total: scored.length, hasMore: scored.length > values.length }
}

/** Lower is better; -1 for no match. */
function scoreOf(value: string, wanted: string): number {
  if (value === wanted) return 0
  if (value.startsWith(wanted)) return 1
  const at = value.indexOf(wanted)
  if (at > 0) return /[^a-z0-9]/.test(value.charAt(at - 1)) ? 2 : 3
  return hasInOrder(value, wanted) ? 4 : -1
}

function hasInOrder(value: string, letters: string): boolean {
  let at = 0
  for (const letter of letters) {
    at = value.indexOf(letter, at) + 1
    if (at === 0) return false
  }
  return true
}

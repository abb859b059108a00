/** Answers to what a server asks: the person, the model, the directories. What has no handler is not offered. */

import { type PersonUrl, personUrl } from '../base/address/person-url.ts'
import { asText } from '../base/as-text.ts'
import { isObject } from '../base/json.ts'
import { Bucket } from '../base/rate.ts'
import type { Params } from '../jsonrpc/message.ts'
import { Cancelled, Declined, McpError } from '../protocol/errors.ts'
import type { ElicitParams, ElicitResult, FormElicitParams, FormSchema, UrlElicitParams } from '../protocol/model/elicitation.ts'
import type { InputRequest } from '../protocol/model/input-required.ts'
import type { ClientCapabilities } from '../protocol/model/lifecycle.ts'
import type { Root } from '../protocol/model/roots.ts'
import { type CreateMessageParams, type CreateMessageResult, checkConversation } from '../protocol/model/sampling.ts'
import { compileForeign } from '../protocol/schema/foreign.ts'
import { describeIssues } from '../protocol/schema/json-schema.ts'
import type { ClientLimits } from './limits.ts'
import { checkRoots } from './roots.ts'

/** Who asks: to be shown beside every question. */
export interface Asking {
  /** What the server calls itself. Not proof of anything. */
  server: string
  signal: AbortSignal
}

export interface FormRequest {
  message: string
  schema: FormSchema
  /** The values to fill the form with before the person looks at it. */
  defaults: Record<string, unknown>
}

export interface UrlRequest extends PersonUrl {
  message: string
  elicitationId: string | undefined
}

export interface Answers {
  /** Puts a form before the person. Missing fields get their defaults; the content is checked before it is sent. */
  elicit?(request: FormRequest, asking: Asking): ElicitResult | Promise<ElicitResult>
  /** Shows the person the whole address and asks whether to open it. Nothing was fetched from it. */
  elicitUrl?(request: UrlRequest, asking: Asking): Pick<ElicitResult, 'action'> | Promise<Pick<ElicitResult, 'action'>>
  /**
   * Asks the model. Throw `Declined` when the person says no.
   * @deprecated by the newest revision, and may be removed from the protocol in a revision of 2027-07-28 or later. Servers are to call a provider of models directly.
   */
  sample?: SampleHandler | { handler: SampleHandler; tools?: boolean; context?: boolean }
  /**
   * The directories the server may work in, as file URIs; a function is asked each time.
   * @deprecated by the newest revision, and may be removed from the protocol in a revision of 2027-07-28 or later. Name them in arguments of tools, URIs of resources or configuration.
   */
  roots?: readonly (string | Root)[] | (() => readonly (string | Root)[] | Promise<readonly (string | Root)[]>)
}

export type SampleHandler = (params: CreateMessageParams, asking: Asking) => CreateMessageResult | Promise<CreateMessageResult>

/** What the client declares: exactly what it has handlers for. */
export function capabilitiesOf(answers: Answers, extra: Pick<ClientCapabilities, 'experimental' | 'extensions'>): ClientCapabilities {
  const capabilities: ClientCapabilities = {}
  if (extra.experimental) capabilities.experimental = extra.experimental
  if (extra.extensions) capabilities.extensions = extra.extensions
  if (answers.roots) capabilities.roots = { listChanged: true }
  if (answers.sample) {
    const { tools, context } = typeof answers.sample === 'function' ? {} : answers.sample
    capabilities.sampling = { ...(tools ? { tools: {} } : {}), ...(context ? { context: {} } : {}) }
  }
  if (answers.elicit || answers.elicitUrl) {
    capabilities.elicitation = { ...(answers.elicit ? { form: {} } : {}), ...(answers.elicitUrl ? { url: {} } : {}) }
  }
  return capabilities
}

/** Answers one question after another for one server, within its rates. */
export class Answerer {
  answers: Answers
  readonly #limits: ClientLimits
  readonly #now: () => number
  readonly #buckets = new Map<'elicitations' | 'samplings', Bucket>()

  constructor(answers: Answers, limits: ClientLimits, now: () => number) {
    this.answers = answers
    this.#limits = limits
    this.#now = now
  }

  /** Throws McpError with the code to answer with, or what the handler threw. */
  async answer(request: InputRequest, asking: Asking): Promise<Params> {
    switch (request.method) {
      case 'elicitation/create':
        this.#spend('elicitations')
        return { ...(await this.#elicit(request.params, asking)) }
      case 'sampling/createMessage':
        this.#spend('samplings')
        return { ...(await this.#sample(request.params, asking)) }
      case 'roots/list':
        return { roots: await this.roots() }
      default:
        throw new McpError('ERR_METHOD_NOT_FOUND', `Method not found: ${asText((request as { method?: unknown }).method)}`)
    }
  }

  async roots(): Promise<Root[]> {
    const { roots } = this.answers
    if (!roots)
      throw new McpError('ERR_METHOD_NOT_FOUND', 'Roots are not supported', { data: { reason: 'The client has not declared roots' } })
    return checkRoots(typeof roots === 'function' ? await roots() : roots)
  }

  async #elicit(params: ElicitParams, asking: Asking): Promise<ElicitResult> {
    if (!isObject(params) || typeof params.message !== 'string') throw new McpError('ERR_INVALID_PARAMS', 'params.message must be a string')
    const { mode = 'form' } = params
    if (mode === 'url') return this.#elicitUrl(params as UrlElicitParams, asking)
    if (mode !== 'form' || !this.answers.elicit)
      throw new McpError('ERR_INVALID_PARAMS', `Elicitation mode ${JSON.stringify(mode)} was not declared`)
    return this.#elicitForm(params as FormElicitParams, asking, this.answers.elicit)
  }

  async #elicitForm(
    { message, requestedSchema }: FormElicitParams,
    asking: Asking,
    elicit: NonNullable<Answers['elicit']>,
  ): Promise<ElicitResult> {
    if (!isObject(requestedSchema) || !isObject(requestedSchema.properties))
      throw new McpError('ERR_INVALID_PARAMS', 'params.requestedSchema must be an object with properties')
    const validate = await compileForeign(requestedSchema, { assertsFormats: true })
    const answer = await personally(() => elicit({ message, schema: requestedSchema, defaults: fillDefaults({}, requestedSchema) }, asking))
    if (answer.action !== 'accept') return { action: answer.action }
    const content = fillDefaults(answer.content ?? {}, requestedSchema)
    const checked = validate(content)
    if (!checked.ok) throw new McpError('ERR_ANSWER_INVALID', `The answer does not fit the form: ${describeIssues(checked.issues)}`)
    return { action: 'accept', content: content as NonNullable<ElicitResult['content']> }
  }

  async #elicitUrl({ message, url, elicitationId }: UrlElicitParams, asking: Asking): Promise<ElicitResult> {
    const { elicitUrl } = this.answers
    if (!elicitUrl) throw new McpError('ERR_INVALID_PARAMS', 'Elicitation mode "url" was not declared')
    const described = typeof url === 'string' ? personUrl(url) : undefined
    if (!described) throw new McpError('ERR_INVALID_PARAMS', `Not a URL to open: ${JSON.stringify(url)}; https, or http to this machine`)
    const { action } = await personally(() => elicitUrl({ message, elicitationId, ...described }, asking))
    return { action }
  }

  async #sample(params: CreateMessageParams, asking: Asking): Promise<CreateMessageResult> {
    const { sample } = this.answers
    if (!sample) throw new McpError('ERR_METHOD_NOT_FOUND', 'Sampling is not supported')
    const { handler, tools, context } = typeof sample === 'function' ? { handler: sample, tools: false, context: false } : sample
    if (!isObject(params) || !Array.isArray(params.messages) || typeof params.maxTokens !== 'number') {
      throw new McpError('ERR_INVALID_PARAMS', 'params must have "messages", a list, and "maxTokens", a number')
    }
    const fault = checkConversation(params.messages)
    if (fault) throw new McpError('ERR_INVALID_PARAMS', `params.messages[${fault.index}] ${fault.what}`)
    if ((params.tools || params.toolChoice) && !tools) throw new McpError('ERR_INVALID_PARAMS', 'Tools in sampling were not declared')
    // Context of other servers is given only where that was declared; the field is advice.
    const asked =
      params.includeContext && params.includeContext !== 'none' && !context ? { ...params, includeContext: 'none' as const } : params
    const result = await handler(asked, asking)
    if (!isObject(result) || typeof result.model !== 'string' || typeof result.content !== 'object') {
      throw new McpError('ERR_ANSWER_INVALID', 'A sampling handler must return { role, content, model }')
    }
    return result
  }

  #spend(what: 'elicitations' | 'samplings'): void {
    const rate = this.#limits[what]
    if (rate === false) return
    const now = this.#now()
    const bucket = this.#buckets.get(what) ?? new Bucket(rate, now)
    this.#buckets.set(what, bucket)
    const retryAfterMs = bucket.take(now)
    if (retryAfterMs > 0)
      throw new McpError('ERR_RATE_LIMITED', `Too many questions (limits.${what})`, {
        data: { reason: 'rate-limited', limit: what, retryAfterMs },
      })
  }
}

/** `Declined` and `Cancelled` are ways to say no. */
async function personally<T extends { action: ElicitResult['action'] }>(
  ask: () => T | Promise<T>,
): Promise<T | { action: 'decline' | 'cancel'; content?: undefined }> {
  try {
    return await ask()
  } catch (error) {
    if (error instanceof Declined) return { action: 'decline' }
    if (error instanceof Cancelled) return { action: 'cancel' }
    throw error
  }
}

/** Fills in the form's defaults for missing fields. */
export function fillDefaults(content: Record<string, unknown>, schema: FormSchema): Record<string, unknown> {
  const filled: Record<string, unknown> = { ...content }
  for (const [name, field] of Object.entries(schema.properties)) {
    if ((!Object.hasOwn(filled, name) || filled[name] === undefined) && isObject(field) && field.default !== undefined)
      filled[name] = field.default
  }
  return filled
}

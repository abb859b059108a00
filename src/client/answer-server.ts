/** Answers the server's questions: forms, pages, sampling and roots. The client declares only capabilities that have a handler. */

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
import { describeIssues, type Issue } from '../protocol/schema/json-schema.ts'
import type { ClientLimits } from './limits.ts'
import { checkRoots } from './roots.ts'

/** The origin of a question. Show it with the question. */
export interface Asking {
  /** The server's own name. Not verified. */
  server: string
  /** Aborts when the server withdraws the question or the client is closed. */
  signal: AbortSignal
  /** The id of the task that asks. Undefined if a call asks, or the server did not say. */
  task?: string
}

/** A form for the person. */
export interface FormRequest {
  message: string
  schema: FormSchema
  /** The initial values of the form. */
  defaults: Record<string, unknown>
}

/** A page for the person: its URL, with warnings to show. */
export interface UrlRequest extends PersonUrl {
  message: string
  elicitationId: string | undefined
}

/**
 * How a client answers the server's questions. The client declares only capabilities that have a handler.
 *
 * @example
 * const client = await connect(url, {
 *   answer: {
 *     elicit: async ({ message, schema }) => ({ action: 'accept', content: await showForm(message, schema) }),
 *     elicitUrl: async ({ message, href }) => ({ action: (await confirm(message, href)) ? 'accept' : 'decline' }),
 *   },
 * })
 */
export interface Answers {
  /**
   * Shows a form to the person. Only the fields in `content` are sent: a field that the person emptied stays empty. Without `content`
   * the defaults are sent. The content is validated before it is sent.
   */
  elicit?(request: FormRequest, asking: Asking): ElicitResult | Promise<ElicitResult>
  /** Shows the full URL to the person and asks whether to open it. The client does not fetch it. */
  elicitUrl?(request: UrlRequest, asking: Asking): Pick<ElicitResult, 'action'> | Promise<Pick<ElicitResult, 'action'>>
  /**
   * Asks the model for a message. Throw `Declined` if the person refuses.
   * @deprecated by the newest revision, and may be removed from the protocol in a revision of 2027-07-28 or later. Servers should call a model provider directly.
   */
  sample?: SampleHandler | { handler: SampleHandler; tools?: boolean; context?: boolean }
  /**
   * The folders that the server may be told about, as file URIs. A function is called for each request.
   * @deprecated by the newest revision, and may be removed from the protocol in a revision of 2027-07-28 or later. Use tool arguments, resource URIs or configuration.
   */
  roots?: readonly (string | Root)[] | (() => readonly (string | Root)[] | Promise<readonly (string | Root)[]>)
}

/** Answers a sampling request with a message of the model. */
export type SampleHandler = (params: CreateMessageParams, asking: Asking) => CreateMessageResult | Promise<CreateMessageResult>

/** The capabilities to declare: those with a handler. */
export function capabilitiesOf(
  answers: Answers,
  extra: Pick<ClientCapabilities, 'experimental' | 'extensions'>,
  hasTasks = false,
): ClientCapabilities {
  const capabilities: ClientCapabilities = {}
  if (extra.experimental) capabilities.experimental = extra.experimental
  if (extra.extensions && Object.keys(extra.extensions).length > 0) capabilities.extensions = extra.extensions
  if (answers.roots) capabilities.roots = { listChanged: true }
  if (answers.sample) {
    const { tools, context } = typeof answers.sample === 'function' ? {} : answers.sample
    capabilities.sampling = { ...(tools ? { tools: {} } : {}), ...(context ? { context: {} } : {}) }
  }
  if (answers.elicit || answers.elicitUrl) {
    capabilities.elicitation = { ...(answers.elicit ? { form: {} } : {}), ...(answers.elicitUrl ? { url: {} } : {}) }
  }
  const { sampling, elicitation } = capabilities
  if (hasTasks && (sampling || elicitation)) {
    const requests = { ...(sampling && { sampling: { createMessage: {} } }), ...(elicitation && { elicitation: { create: {} } }) }
    capabilities.tasks = { list: {}, cancel: {}, requests }
  }
  return capabilities
}

/** Answers the questions of one server, within its rate limits. */
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

  /** Adds or replaces handlers. If `onAdded` throws, nothing changes. */
  add(answers: Answers, onAdded: () => void): void {
    const before = this.answers
    this.answers = { ...before, ...answers }
    try {
      onAdded()
    } catch (error) {
      this.answers = before
      throw error
    }
  }

  /** Throws an McpError with the code for the answer, or the error of the handler. */
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
    const defaults = defaultsOf(requestedSchema)
    const answer = await personally(() => elicit({ message, schema: requestedSchema, defaults: { ...defaults } }, asking))
    if (answer.action !== 'accept') return { action: answer.action }
    // Defaults are not added to a given content: the person may have removed them.
    const content = answer.content === undefined ? defaults : given(answer.content)
    const checked = validate(content)
    if (!checked.ok)
      throw new McpError('ERR_ANSWER_INVALID', `The answer does not fit the form: ${describeIssues(checked.issues)}`, {
        data: { expected: expectedBy(requestedSchema, checked.issues) },
      })
    return { action: 'accept', content: content as NonNullable<ElicitResult['content']> }
  }

  async #elicitUrl({ message, url, elicitationId }: UrlElicitParams, asking: Asking): Promise<ElicitResult> {
    const { elicitUrl } = this.answers
    if (!elicitUrl) throw new McpError('ERR_INVALID_PARAMS', 'Elicitation mode "url" was not declared')
    const described = typeof url === 'string' ? personUrl(url) : undefined
    if (!described) throw new McpError('ERR_INVALID_PARAMS', `Expected an https URL, or http to this machine, got ${JSON.stringify(url)}`)
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
    // Context is requested from the handler only if it was declared. The field is only a wish of the server.
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

/** Converts `Declined` and `Cancelled` errors to answers. */
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

/** What the fields of a form expect, in words that a server may read: without the person's input. */
function expectedBy({ properties }: FormSchema, issues: readonly Issue[]): string {
  const known = issues.filter(({ path: [field] }) => field === undefined || Object.hasOwn(properties, field))
  return describeIssues(
    known.map(({ path, message }) => ({
      path: path.slice(0, 1),
      message: /^expected .*?(?=, got |$)|^.* is required$/s.exec(message)?.[0] ?? 'invalid',
    })),
  )
}

/** The initial values of a form. */
function defaultsOf({ properties }: FormSchema): Record<string, unknown> {
  const fields = Object.entries(properties).flatMap(([name, field]) => (isObject(field) ? [[name, field.default] as const] : []))
  return given(Object.fromEntries(fields))
}

/** Without fields that are undefined: they are not sent. */
const given = (content: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(content).filter(([, value]) => value !== undefined))

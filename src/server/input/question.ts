/** The questions that a handler may ask the client, and the checks of their answers. */

import { isPersonUrl } from '../../base/address/person-url.ts'
import { isObject } from '../../base/json.ts'
import { McpError } from '../../protocol/errors.ts'
import type { ElicitResult, FormElicitParams, UrlElicitParams } from '../../protocol/model/elicitation.ts'
import type { InputRequest } from '../../protocol/model/input-required.ts'
import type { ClientCapabilities } from '../../protocol/model/lifecycle.ts'
import type { ListRootsResult } from '../../protocol/model/roots.ts'
import { type CreateMessageParams, type CreateMessageResult, checkConversation } from '../../protocol/model/sampling.ts'
import { type AnySchema, type ObjectOf, schemaPort } from '../../protocol/schema/any-schema.ts'
import { compile, type Validate } from '../../protocol/schema/compile.ts'
import { toFormSchema } from '../../protocol/schema/form.ts'
import { type Checked, describeIssues, type Issue, type JsonSchema } from '../../protocol/schema/json-schema.ts'

/** A question for `ctx.ask`. Create it with `form`, `page`, `sampling` or `rootList`. */
export interface Question<Answer = unknown> {
  request: InputRequest
  /** The capabilities that the client must have declared. */
  needs: ClientCapabilities
  /** Connects a page to its later notice of completion, in revisions that have such notices. */
  elicitationId?: string | undefined
  /** Withdraws the question. A question with it has no limit of time. */
  until?: AbortSignal | undefined
  /** Checks an answer and converts it. */
  read(answer: unknown): Checked<Answer> | Promise<Checked<Answer>>
}

/** The answer to a form: the content after validation, or that the person declined or dismissed it. */
export type FormAnswer<T> = { action: 'accept'; content: T } | { action: 'decline' | 'cancel' }

/** The answer to a page: whether the person agreed to visit it. */
export type UrlAnswer = { action: 'accept' | 'decline' | 'cancel' }

/**
 * Asks the person to fill in a form. The schema is a flat object of strings, numbers, booleans and choices.
 *
 * @example
 * const { name } = await ctx.ask({ name: form('What is your name?', z.object({ name: z.string() })) })
 * if (name.action === 'accept') return `Hello, ${name.content.name}!`
 */
export function form<S extends AnySchema>(message: string, schema: S): Question<FormAnswer<ObjectOf<S>>> {
  const port = schemaPort(schema, 'input', 'The form')
  const params: FormElicitParams = { mode: 'form', message, requestedSchema: toFormSchema(port.json) }
  return {
    ...asking({ method: 'elicitation/create', params }),
    read: async (answer) => {
      const result = readElicitResult(answer)
      if (!result.ok) return result
      const { action, content } = result.value
      if (action !== 'accept') return { ok: true, value: { action } }
      const checked = await port.check(content ?? {})
      if (!checked.ok) return { ok: false, issues: within('content', checked.issues) }
      return { ok: true, value: { action, content: checked.value as ObjectOf<S> } }
    },
  }
}

/**
 * Asks the person to visit a page. `accept` means that they agreed, not that they have finished there.
 *
 * @example
 * const { consent } = await ctx.ask({ consent: page('Connect your account', 'https://example.com/connect') })
 */
export function page(message: string, url: string, elicitationId?: string): Question<UrlAnswer> {
  checkPageUrl(url)
  const params: UrlElicitParams = { mode: 'url', message, url }
  return {
    ...asking({ method: 'elicitation/create', params }),
    elicitationId,
    read: (answer) => {
      const result = readElicitResult(answer)
      return result.ok ? { ok: true, value: { action: result.value.action } } : result
    },
  }
}

/** Throws ERR_ASK for a URL that clients must not open. */
export function checkPageUrl(url: string): void {
  if (!isPersonUrl(url)) throw new McpError('ERR_ASK', `Expected an https URL, or http to this machine, got ${JSON.stringify(url)}`)
}

/**
 * Asks the client's model for a message.
 *
 * @example
 * const { reply } = await ctx.ask({ reply: sampling({ messages: [{ role: 'user', content: text('Hi') }], maxTokens: 100 }) })
 *
 * @deprecated by the newest revision, and may be removed from the protocol in a revision of 2027-07-28 or later. Call a model provider directly.
 */
export function sampling(params: CreateMessageParams): Question<CreateMessageResult> {
  return {
    ...asking({ method: 'sampling/createMessage', params: checkSampling(params) }),
    read: (answer) => judge(checkMessage, answer) as Checked<CreateMessageResult>,
  }
}

/**
 * Asks for the folders that the server may work in.
 *
 * @example
 * const { roots } = await ctx.ask({ roots: rootList() })
 *
 * @deprecated by the newest revision, and may be removed from the protocol in a revision of 2027-07-28 or later. Use tool arguments, resource URIs or configuration.
 */
export function rootList(): Question<ListRootsResult> {
  return {
    ...asking({ method: 'roots/list' }),
    read: (answer) => judge(checkRoots, answer) as Checked<ListRootsResult>,
  }
}

const asking = (request: InputRequest): Pick<Question, 'request' | 'needs'> => ({ request, needs: needsOf(request) })

/** The capabilities of a client that can answer a request. */
export function needsOf({ method, params }: InputRequest): ClientCapabilities {
  if (method === 'roots/list') return { roots: {} }
  if (method === 'elicitation/create') return { elicitation: params.mode === 'url' ? { url: {} } : { form: {} } }
  const { tools, toolChoice, includeContext = 'none' } = params
  return { sampling: { ...((tools || toolChoice) && { tools: {} }), ...(includeContext !== 'none' && { context: {} }) } }
}

const checkElicit = compiledLater({
  type: 'object',
  properties: { action: { enum: ['accept', 'decline', 'cancel'] }, content: { type: 'object' } },
  required: ['action'],
})

const contentBlock = { type: 'object', properties: { type: { type: 'string' } }, required: ['type'] }

const checkMessage = compiledLater({
  type: 'object',
  properties: {
    role: { enum: ['user', 'assistant'] },
    content: { anyOf: [contentBlock, { type: 'array', items: contentBlock }] },
    model: { type: 'string' },
    stopReason: { type: 'string' },
  },
  required: ['role', 'content', 'model'],
})

const checkRoots = compiledLater({
  type: 'object',
  properties: {
    roots: {
      type: 'array',
      maxItems: 1000,
      items: { type: 'object', properties: { uri: { type: 'string', pattern: '^file://' }, name: { type: 'string' } }, required: ['uri'] },
    },
  },
  required: ['roots'],
})

/** Compiled for the first answer, because most servers never ask and start-up time matters. */
function compiledLater(schema: JsonSchema): Validate {
  let validate: Validate | undefined
  return (value) => {
    validate ??= compile(schema)
    return validate(value)
  }
}

const readElicitResult = (answer: unknown): Checked<ElicitResult> => judge(checkElicit, answer) as Checked<ElicitResult>

const judge = (check: (value: unknown) => Checked, answer: unknown): Checked =>
  isObject(answer) ? check(answer) : { ok: false, issues: [{ path: [], message: 'expected an object' }] }

const within = (key: string, issues: readonly Issue[]): Issue[] => issues.map(({ path, message }) => ({ path: [key, ...path], message }))

function checkSampling(params: CreateMessageParams): CreateMessageParams {
  const fault = checkConversation(params.messages) ?? checkToolResults(params)
  if (fault) throw new McpError('ERR_ASK', `Sampling message ${fault.index} ${fault.what}`)
  return params
}

/** Checks the tool results in a conversation against the output schemas. Returns the first problem. */
function checkToolResults({ messages, tools = [] }: CreateMessageParams): { index: number; what: string } | undefined {
  const schemas = new Map(tools.flatMap(({ name, outputSchema }) => (outputSchema ? [[name, outputSchema] as const] : [])))
  if (schemas.size === 0) return undefined
  const used = new Map<string, string>()
  for (const [index, { content }] of messages.entries()) {
    for (const block of Array.isArray(content) ? content : [content]) {
      if (block.type === 'tool_use') used.set(block.id, block.name)
      if (block.type !== 'tool_result' || block.structuredContent === undefined || block.isError) continue
      const name = used.get(block.toolUseId)
      const schema = name === undefined ? undefined : schemas.get(name)
      const checked = schema && compile(schema)(block.structuredContent)
      if (checked && !checked.ok)
        return {
          index,
          what: `has a result that does not match the output schema of ${JSON.stringify(name)}: ${describeIssues(checked.issues)}`,
        }
    }
  }
  return undefined
}

export const describeAnswerIssues = (question: Question, issues: readonly Issue[]): string =>
  `The answer to ${question.request.method} is invalid: ${describeIssues(issues)}`

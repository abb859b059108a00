/** What a handler may ask the other side, and how an answer is judged. */

import { isPersonUrl } from '../../base/address/person-url.ts'
import { isObject } from '../../base/json.ts'
import { McpError } from '../../protocol/errors.ts'
import type { ElicitResult, FormElicitParams, UrlElicitParams } from '../../protocol/model/elicitation.ts'
import type { InputRequest } from '../../protocol/model/input-required.ts'
import type { ClientCapabilities } from '../../protocol/model/lifecycle.ts'
import type { ListRootsResult } from '../../protocol/model/roots.ts'
import { type CreateMessageParams, type CreateMessageResult, checkConversation } from '../../protocol/model/sampling.ts'
import { compile, type Validate } from '../../protocol/schema/compile.ts'
import { toFormSchema } from '../../protocol/schema/form.ts'
import { type Checked, describeIssues, type Issue, type JsonSchema } from '../../protocol/schema/json-schema.ts'
import { type AnySchema, type ObjectOf, schemaPort } from '../../protocol/schema/port.ts'

export interface Question<Answer = unknown> {
  request: InputRequest
  /** What the client must have declared to be asked this. */
  needs: ClientCapabilities
  /** Ties a later notice of completion to a page, where the revision has such notices. */
  elicitationId?: string | undefined
  /** Judges an answer and gives it its final form. */
  read(answer: unknown): Checked<Answer> | Promise<Checked<Answer>>
}

/** An answer to a form: the accepted content as the schema gives it out, or that there is none. */
export type FormAnswer<T> = { action: 'accept'; content: T } | { action: 'decline' | 'cancel' }

export type UrlAnswer = { action: 'accept' | 'decline' | 'cancel' }

/** Asks the person to fill in a form. The schema is a flat object of strings, numbers, booleans and choices. */
export function form<S extends AnySchema>(message: string, schema: S): Question<FormAnswer<ObjectOf<S>>> {
  const port = schemaPort(schema, 'input', 'The form')
  const params: FormElicitParams = { mode: 'form', message, requestedSchema: toFormSchema(port.json) }
  return {
    request: { method: 'elicitation/create', params },
    needs: { elicitation: { form: {} } },
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

/** Asks the person to visit a page. Accepting means that they agreed to, not that they are done there. */
export function page(message: string, url: string, elicitationId?: string): Question<UrlAnswer> {
  checkPageUrl(url)
  const params: UrlElicitParams = { mode: 'url', message, url }
  return {
    request: { method: 'elicitation/create', params },
    needs: { elicitation: { url: {} } },
    elicitationId,
    read: (answer) => {
      const result = readElicitResult(answer)
      return result.ok ? { ok: true, value: { action: result.value.action } } : result
    },
  }
}

/** Throws ERR_ASK for an address that no client should open. */
export function checkPageUrl(url: string): void {
  if (!isPersonUrl(url))
    throw new McpError('ERR_ASK', `Not a URL to send a person to: ${JSON.stringify(url)}; https, or http to this machine`)
}

/**
 * Asks the client's model for a message.
 * @deprecated by the newest revision, and may be removed from the protocol in a revision of 2027-07-28 or later. Call a provider of models directly.
 */
export function sampling(params: CreateMessageParams): Question<CreateMessageResult> {
  const needs: ClientCapabilities = { sampling: {} }
  if (params.tools || params.toolChoice) needs.sampling = { tools: {} }
  if (params.includeContext && params.includeContext !== 'none') needs.sampling = { ...needs.sampling, context: {} }
  return {
    request: { method: 'sampling/createMessage', params: checkSampling(params) },
    needs,
    read: (answer) => judge(checkMessage, answer) as Checked<CreateMessageResult>,
  }
}

/**
 * Asks which directories the server may work in.
 * @deprecated by the newest revision, and may be removed from the protocol in a revision of 2027-07-28 or later. Use arguments of tools, URIs of resources or configuration.
 */
export function rootList(): Question<ListRootsResult> {
  return {
    request: { method: 'roots/list' },
    needs: { roots: {} },
    read: (answer) => judge(checkRoots, answer) as Checked<ListRootsResult>,
  }
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

/** Compiled when the first answer is judged: most servers never ask, and all of them have to start. */
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

/** What a tool of the conversation returned is what its output schema says. */
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
        return { index, what: `has a result that the output schema of ${JSON.stringify(name)} forbids: ${describeIssues(checked.issues)}` }
    }
  }
  return undefined
}

export const describeAnswerIssues = (question: Question, issues: readonly Issue[]): string =>
  `The answer to ${question.request.method} is not usable: ${describeIssues(issues)}`

/** A model for tests and demos without a language model: it selects tools by the words of a request and repeats their results. */

import { CHARS_PER_TOKEN, estimateTokens, tokensIn } from '../../host/language-models/estimate-tokens.ts'
import type { Model, ModelContent, ModelMessage, ModelPart, ModelRequest } from '../../host/language-models/language-model.ts'
import { checkMembers } from '../../protocol/check-members.ts'
import type { ToolResultContent } from '../../protocol/model/sampling.ts'
import { answerFrom, extract } from './extract.ts'
import { type OfferedTool, type Plan, planCall, sides, steps } from './plan.ts'

/** Options for `scriptedModel`. */
export interface ScriptedOptions {
  /** Default: `scripted`. */
  id?: string
}

/**
 * A deterministic model without a language model. It finds a tool by the words of a request, fills in its arguments, and
 * answers with the result.
 *
 * @example
 * const host = await createHost({ model: scriptedModel() })
 */
export function scriptedModel(options: ScriptedOptions = {}): Model {
  checkMembers('scriptedModel', options, { id: 1 })
  const { id = 'scripted' } = options
  return {
    id,
    label: 'scripted (no language model)',
    traits: { cost: 0, speed: 1, intelligence: 0 },
    async *stream(request, signal) {
      const { text, calls } = respond(request)
      const { said, reason } = cut(text, request)
      const inputTokens = estimateTokens(request.messages)
      for (const piece of said.match(/\S+\s*|\s+/g) ?? []) {
        signal.throwIfAborted()
        yield { type: 'text', text: piece }
      }
      signal.throwIfAborted()
      // A text that was cut ends before its tool calls.
      if (reason === undefined) yield* calls
      const usage = { inputTokens, outputTokens: tokensIn(said.length) + (calls.length > 0 ? estimateTokens(calls) : 0) }
      yield { type: 'end', reason: reason ?? (calls.length > 0 ? 'toolUse' : 'endTurn'), usage }
    },
  }
}

type ToolCall = Extract<ModelPart, { type: 'tool-call' }>

interface Response {
  text: string
  calls: ToolCall[]
}

const say = (text: string): Response => ({ text, calls: [] })

function respond({ messages, tools = [], toolChoice }: ModelRequest): Response {
  const { request, results, rounds } = turnOf(messages)
  if (tools.length === 0 || toolChoice?.mode === 'none') return say(results.length > 0 ? reportOf(results) : extract(request))
  const isRequired = toolChoice?.mode === 'required' && rounds === 0
  const next = steps(request, tools)[rounds]
  const hasFailed = results.slice(-1).some(({ block }) => block.isError)
  if (rounds > 0 && (next === undefined || hasFailed)) return say(reportOf(results))
  const plans = sides(next ?? request).map((side) => planCall(side, tools, { isRequired }))
  const calls = plans.flatMap((plan) => (plan.kind === 'call' ? [plan] : []))
  const asked = plans.flatMap((plan) => (plan.kind === 'ask' ? [question(plan)] : []))
  if (calls.length === 0 && asked.length === 0) return say(results.length > 0 ? `${reportOf(results)}\n${help(tools)}` : help(tools))
  return {
    text: asked.join('\n'),
    calls: calls.map(({ tool, args }, side) => ({
      type: 'tool-call',
      id: `scripted-${messages.length}-${side}`,
      name: tool.name,
      args,
    })),
  }
}

interface UsedTool {
  name: string
  block: ToolResultContent
}

interface Turn {
  /** The person's request, with their answer to a question of the script. */
  request: string
  /** The results of tools since then. */
  results: UsedTool[]
  /** The number of rounds of tool calls since then. */
  rounds: number
}

function turnOf(messages: readonly ModelMessage[]): Turn {
  const asked = messages.findLastIndex(({ role, content }) => role === 'user' && textOf(content) !== '')
  const names = new Map<string, string>()
  const results: UsedTool[] = []
  let rounds = 0
  for (const { content } of messages.slice(asked + 1)) {
    const blocks = blocksOf(content)
    for (const block of blocks) if (block.type === 'tool_use') names.set(block.id, block.name)
    const answered = blocks.flatMap((block) =>
      block.type === 'tool_result' ? [{ name: names.get(block.toolUseId) ?? 'A tool', block }] : [],
    )
    if (answered.length > 0) rounds++
    results.push(...answered)
  }
  return { request: requestAt(messages, asked), results, rounds }
}

function requestAt(messages: readonly ModelMessage[], at: number): string {
  const request = textOf(messages[at]?.content ?? [])
  const before = messages[at - 1]
  const isAddition = before?.role === 'assistant' && textOf(before.content).includes(NEEDS)
  const earlier = isAddition ? textOf(messages[at - 2]?.content ?? []) : ''
  return earlier === '' ? request : `${earlier} ${request}`
}

const blocksOf = (content: ModelContent | ModelContent[]): ModelContent[] => (Array.isArray(content) ? content : [content])

const textOf = (content: ModelContent | ModelContent[]): string =>
  blocksOf(content)
    .flatMap((block) => (block.type === 'text' ? [block.text] : []))
    .join('\n')
    .trim()

const NEEDS = 'also needs to know'

const question = ({ tool, missing }: Extract<Plan, { kind: 'ask' }>): string =>
  `${tool.name} ${NEEDS}: ${missing.join(', ')}. Say it as name=value.`

const reportOf = (results: readonly UsedTool[]): string => results.map(({ name, block }) => answerFrom(name, block)).join('\n\n')

const MAX_LISTED = 12
const MAX_SUMMARY_CHARS = 80

/** Cut between words. */
function shortened(text: string): string {
  if (text.length <= MAX_SUMMARY_CHARS) return text
  const cut = text.slice(0, MAX_SUMMARY_CHARS)
  return `${cut.slice(0, Math.max(cut.lastIndexOf(' '), 1))} …`
}

function help(tools: readonly OfferedTool[]): string {
  const listed = tools.slice(0, MAX_LISTED).map(({ name, description = '' }) => {
    const summary = shortened(description.split(/\n|(?<=\.)\s/)[0] ?? '')
    return summary === '' ? `- ${name}` : `- ${name}: ${summary}`
  })
  const more = tools.length > MAX_LISTED ? `\n… and ${tools.length - MAX_LISTED} more` : ''
  return `There is no language model here, only a script that finds a tool by the words you use. It found no tool for this request. Available tools:\n${listed.join('\n')}${more}`
}

/** Cuts a text at the token limit or at a stop sequence. */
function cut(text: string, { maxTokens, stopSequences = [] }: ModelRequest): { said: string; reason?: 'maxTokens' | 'stopSequence' } {
  const stops = stopSequences.flatMap((stop) => (stop !== '' && text.includes(stop) ? [text.indexOf(stop)] : []))
  const stopAt = Math.min(...stops)
  const room = maxTokens === undefined ? Number.POSITIVE_INFINITY : maxTokens * CHARS_PER_TOKEN
  if (stopAt <= room && stops.length > 0) return { said: text.slice(0, stopAt), reason: 'stopSequence' }
  return text.length > room ? { said: text.slice(0, room), reason: 'maxTokens' } : { said: text }
}

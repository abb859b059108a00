/** Any model of the AI SDK's providers as a model of ours. The interface is described here as far as it is used, so that nothing of it is needed at run time. */

import { asText } from '../../base/as-text.ts'
import { type Clock, systemClock } from '../../base/clock.ts'
import { isObject } from '../../base/json.ts'
import { orAborted } from '../../base/wait.ts'
import { McpError } from '../../protocol/errors.ts'
import { withDefaults } from '../../protocol/with-defaults.ts'
import { callOptions, type ResultMediaPlace } from './ai-sdk-prompt.ts'
import { SPECIFICATION_VERSIONS, type VersionWords, wordsOf } from './ai-sdk-versions.ts'
import { modelFailure } from './failure.ts'
import type { Model, ModelPart, ModelRequest, ModelTraits, ModelUsage } from './model.ts'
import { Silence } from './silence.ts'
import { type ToolNames, toolNames } from './tool-names.ts'

/** `LanguageModelV2`, `LanguageModelV3` and `LanguageModelV4` of `@ai-sdk/provider` fit. */
export interface AiSdkModel {
  readonly specificationVersion: string
  readonly provider: string
  readonly modelId: string
  /** What it takes is made by callOptions, by the version it says. */
  doStream(options: never): PromiseLike<{ stream: AiSdkStream }>
}

interface AiSdkStream {
  getReader(): { read(): Promise<{ done: boolean; value?: unknown }>; cancel(reason?: unknown): Promise<void> }
}

export interface AiSdkLimits {
  /** How long the provider may be silent. */
  silenceMs: number
  /** How much one answer may hold, arguments of calls included. */
  maxAnswerChars: number
  /** Calls in one answer. */
  maxCalls: number
}

export const DEFAULT_AI_SDK_LIMITS: AiSdkLimits = { silenceMs: 120_000, maxAnswerChars: 4_000_000, maxCalls: 128 }

export interface AiSdkOptions {
  /** What people see; the provider and the name of the model unless given. */
  label?: string
  traits?: ModelTraits
  limits?: Partial<AiSdkLimits>
  /** Where pictures and sounds of a type that tools answer with go; into the results unless given. */
  resultMedia?(mediaType: string): ResultMediaPlace
  /** Values that must not show in an error even when the provider repeats them. */
  secrets?: readonly string[]
  clock?: Clock
}

/** @see https://ai-sdk.dev/providers/community-providers/custom-providers */
export function fromAiSdk(model: AiSdkModel, options: AiSdkOptions = {}): Model {
  const words = wordsOf(model.specificationVersion)
  if (!words)
    throw new McpError(
      'ERR_CONFIG',
      `The model ${model.modelId} implements ${model.specificationVersion} of the AI SDK's interface; ${SPECIFICATION_VERSIONS.join(', ')} can be used`,
    )
  const { label = `${model.provider} ${model.modelId}`, traits, secrets = [], clock = systemClock } = options
  const { resultMedia: placeOf = () => 'within' } = options
  const limits = withDefaults(DEFAULT_AI_SDK_LIMITS, options.limits)
  return {
    id: model.modelId,
    label,
    ...(traits ? { traits } : {}),
    async *stream(request, signal) {
      signal.throwIfAborted()
      const silence = new Silence(clock, limits.silenceMs)
      try {
        yield* partsOf(model, { request, words, placeOf, limits, signal: AbortSignal.any([signal, silence.signal]), silence })
      } catch (error) {
        if (signal.aborted) throw signal.reason
        if (silence.signal.aborted)
          throw new McpError('ERR_MODEL', `The model ${model.modelId} said nothing for ${limits.silenceMs} ms (silenceMs)`)
        throw error instanceof McpError ? error : modelFailure(model.modelId, error, secrets)
      } finally {
        silence.end()
      }
    },
  }
}

interface Asked {
  request: ModelRequest
  words: VersionWords
  placeOf(mediaType: string): ResultMediaPlace
  limits: AiSdkLimits
  signal: AbortSignal
  silence: Silence
}

async function* partsOf(model: AiSdkModel, { request, words, placeOf, limits, signal, silence }: Asked): AsyncGenerator<ModelPart> {
  const names = toolNames((request.tools ?? []).map(({ name }) => name))
  const options = callOptions(request, { words, names, placeOf, signal })
  const { stream } = await orAborted(model.doStream(options as never), signal)
  const reader = stream.getReader()
  let chars = 0
  let calls = 0
  let end: ModelPart | undefined
  try {
    for (;;) {
      const { done, value } = await orAborted(reader.read(), signal)
      if (done) break
      silence.heard()
      const part = readPart(value, { model, words, names })
      if (!part) continue
      chars += sizeOf(value)
      if (chars > limits.maxAnswerChars)
        throw new McpError(
          'ERR_MODEL',
          `The model ${model.modelId} answered with more than ${limits.maxAnswerChars} characters (maxAnswerChars)`,
        )
      if (part.type === 'tool-call' && ++calls > limits.maxCalls)
        throw new McpError('ERR_MODEL', `The model ${model.modelId} made more than ${limits.maxCalls} calls at once (maxCalls)`)
      if (part.type === 'end') end = part
      else yield part
    }
  } finally {
    // Whoever stops reading stops the provider as well; that this fails when it is gone already is nobody's business.
    reader.cancel().catch(() => {})
  }
  if (!end) throw brokenOff(model)
  yield end
}

const brokenOff = ({ modelId }: AiSdkModel): McpError =>
  new McpError('ERR_MODEL', `The model ${modelId} broke off in the middle of its answer`)

interface Reading {
  model: AiSdkModel
  words: VersionWords
  names: ToolNames
}

/** Undefined for what is of no use here, such as reasoning or sources. */
function readPart(value: unknown, { model, words, names }: Reading): ModelPart | undefined {
  if (!isObject(value)) return undefined
  switch (value.type) {
    case 'text-delta':
      return typeof value.delta === 'string' && value.delta !== '' ? { type: 'text', text: value.delta } : undefined
    case 'tool-call':
      // What the provider ran itself is not ours to run again.
      return value.providerExecuted === true ? undefined : toolCall(value, names)
    case 'finish': {
      const end = finish(value, words)
      if (!end) throw brokenOff(model)
      return end
    }
    case 'error':
      throw value.error
    default:
      return undefined
  }
}

function toolCall(value: Record<string, unknown>, names: ToolNames): ModelPart {
  const { toolCallId, toolName, input } = value
  const call = { type: 'tool-call' as const, id: asText(toolCallId), name: names.meant(asText(toolName)) }
  if (typeof input !== 'string' || input.trim() === '') return { ...call, args: {} }
  try {
    const args: unknown = JSON.parse(input)
    if (isObject(args)) return { ...call, args }
    return { ...call, args: {}, fault: 'The arguments are JSON, but no object' }
  } catch {
    return { ...call, args: {}, fault: 'The arguments are not JSON' }
  }
}

function finish({ finishReason, usage }: Record<string, unknown>, words: VersionWords): ModelPart | undefined {
  const end = words.endOf(finishReason)
  if (end === 'error') throw new Error('The provider reported an error')
  return end === undefined
    ? undefined
    : { type: 'end', reason: (Object.hasOwn(REASONS, end) && REASONS[end]) || 'other', usage: usageOf(usage, words) }
}

type EndReason = Extract<ModelPart, { type: 'end' }>['reason']

// The interface does not tell the end of a turn from a stop sequence.
const REASONS: Readonly<Record<string, EndReason>> = {
  stop: 'endTurn',
  length: 'maxTokens',
  'tool-calls': 'toolUse',
  'content-filter': 'refused',
}

function usageOf(usage: unknown, { tokens }: VersionWords): ModelUsage {
  const { inputTokens, outputTokens } = isObject(usage) ? usage : {}
  return { inputTokens: tokens(inputTokens) ?? 0, outputTokens: tokens(outputTokens) ?? 0 }
}

function sizeOf(value: unknown): number {
  const { delta, input } = value as { delta?: unknown; input?: unknown }
  return (typeof delta === 'string' ? delta.length : 0) + (typeof input === 'string' ? input.length : 0)
}

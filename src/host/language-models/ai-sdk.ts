/** Adapts models of the AI SDK. The interface is declared here as far as it is used, so that the SDK is not needed at run time. */

import { asText } from '../../base/as-text.ts'
import { type Clock, systemClock } from '../../base/clock.ts'
import { isObject } from '../../base/json.ts'
import { orAborted } from '../../base/wait.ts'
import { checkMembers } from '../../protocol/check-members.ts'
import { McpError } from '../../protocol/errors.ts'
import { withDefaults } from '../../protocol/with-defaults.ts'
import { callOptions, type ResultMediaPlace } from './ai-sdk-prompt.ts'
import { SPECIFICATION_VERSIONS, type VersionWords, versionWords } from './ai-sdk-versions.ts'
import type { Model, ModelPart, ModelRequest, ModelTraits, ModelUsage } from './language-model.ts'
import { modelFailure } from './provider-error.ts'
import { Silence } from './silence-timeout.ts'
import { type ToolNames, toolNames } from './tool-names.ts'

/** `LanguageModelV2`, `LanguageModelV3` and `LanguageModelV4` of `@ai-sdk/provider` are compatible. */
export interface AiSdkModel {
  readonly specificationVersion: string
  readonly provider: string
  readonly modelId: string
  /** Takes the result of callOptions, which depends on the version. */
  doStream(options: never): PromiseLike<{ stream: AiSdkStream }>
}

interface AiSdkStream {
  getReader(): { read(): Promise<{ done: boolean; value?: unknown }>; cancel(reason?: unknown): Promise<void> }
}

export interface AiSdkLimits {
  /** Maximum time without any data from the provider. */
  silenceMs: number
}

export const DEFAULT_AI_SDK_LIMITS: AiSdkLimits = { silenceMs: 120_000 }

/** Characters of one answer, including the arguments of calls. The longest answers of models are a tenth of it. */
const MAX_ANSWER_CHARS = 4_000_000

/** More calls in one answer are a fault of the model. */
const MAX_CALLS = 128

export interface AiSdkOptions {
  /** The name for people. Default: the provider and the name of the model. */
  label?: string
  traits?: ModelTraits
  limits?: Partial<AiSdkLimits>
  /** Where media of this type in tool results goes. Default: into the results (`within`). */
  resultMedia?(mediaType: string): ResultMediaPlace
  /** Values to redact from errors, in case the provider repeats them. */
  secrets?: readonly string[]
  clock?: Clock
}

/**
 * Uses any AI SDK model as a model of the host.
 *
 * @see https://ai-sdk.dev/providers/community-providers/custom-providers
 * @example
 * const host = await createHost({ model: fromAiSdk(google('gemini-2.5-pro')) })
 */
export function fromAiSdk(model: AiSdkModel, options: AiSdkOptions = {}): Model {
  checkMembers('A model', options, { label: 1, traits: 1, limits: 1, resultMedia: 1, secrets: 1, clock: 1 })
  const words = versionWords(model.specificationVersion)
  if (!words)
    throw new McpError(
      'ERR_CONFIG',
      `The model ${model.modelId} implements ${model.specificationVersion} of the AI SDK interface: expected ${SPECIFICATION_VERSIONS.join(', ')}`,
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
        yield* partsOf(model, { request, words, placeOf, signal: AbortSignal.any([signal, silence.signal]), silence })
      } catch (error) {
        if (signal.aborted) throw signal.reason
        if (silence.signal.aborted)
          throw new McpError('ERR_MODEL', `The model ${model.modelId} sent nothing for ${limits.silenceMs} ms (silenceMs)`)
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
  signal: AbortSignal
  silence: Silence
}

async function* partsOf(model: AiSdkModel, { request, words, placeOf, signal, silence }: Asked): AsyncGenerator<ModelPart> {
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
      if (chars > MAX_ANSWER_CHARS)
        throw new McpError('ERR_MODEL', `The model ${model.modelId} answered with more than ${MAX_ANSWER_CHARS} characters`)
      if (part.type === 'tool-call' && ++calls > MAX_CALLS)
        throw new McpError('ERR_MODEL', `The model ${model.modelId} made more than ${MAX_CALLS} calls at once (maxCalls)`)
      if (part.type === 'end') end = part
      else yield part
    }
  } finally {
    // Stop the provider if the caller stops reading. A failure does not matter: the provider may be gone.
    reader.cancel().catch(() => {})
  }
  if (!end) throw brokenOff(model)
  yield end
}

const brokenOff = ({ modelId }: AiSdkModel): McpError =>
  new McpError('ERR_MODEL', `The model ${modelId} stopped in the middle of its answer`)

interface Reading {
  model: AiSdkModel
  words: VersionWords
  names: ToolNames
}

/** Undefined: not used here, such as reasoning or sources. */
function readPart(value: unknown, { model, words, names }: Reading): ModelPart | undefined {
  if (!isObject(value)) return undefined
  switch (value.type) {
    case 'text-delta':
      return typeof value.delta === 'string' && value.delta !== '' ? { type: 'text', text: value.delta } : undefined
    case 'tool-call':
      // The provider has already run this call itself.
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
    return { ...call, args: {}, fault: 'The arguments are JSON, but not an object' }
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

// The interface does not distinguish the end of a turn from a stop sequence.
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

/** Models behind the chat completions API: most providers, and local ones such as Ollama, llama.cpp or vLLM. */

import { type AiSdkModel, fromAiSdk } from './ai-sdk.ts'
import { isPicture } from './image-types.ts'
import type { Model } from './language-model.ts'
import { optionalPackage } from './optional-package.ts'
import { checkBaseUrl, type ProviderOptions, withoutRedirects } from './provider-options.ts'

export interface OpenAiCompatibleOptions extends ProviderOptions {
  /** The address without `/chat/completions`, for example `http://127.0.0.1:11434/v1` for Ollama. */
  baseURL: string
  /** The name of the provider in labels. */
  provider?: string
  /** The model understands images, so images in tool results are sent to it. Default: false (it only gets a note). */
  seesPictures?: boolean
}

/** The part of the package that is used. All its versions are compatible. */
export interface OpenAiCompatiblePackage {
  createOpenAICompatible(settings: {
    name: string
    baseURL: string
    apiKey?: string
    includeUsage: true
    fetch?: typeof globalThis.fetch
  }): {
    chatModel(model: string): AiSdkModel
  }
}

/**
 * A model behind the chat completions API. Needs the package `@ai-sdk/openai-compatible`; ERR_MODEL if it is not installed.
 *
 * @example
 * const model = await openaiCompatible({ baseURL: 'http://127.0.0.1:11434/v1', model: 'qwen3' })
 */
export const openaiCompatible = (options: OpenAiCompatibleOptions): Promise<Model> =>
  openaiCompatibleFrom(() => import('@ai-sdk/openai-compatible'), options)

export async function openaiCompatibleFrom(load: () => Promise<OpenAiCompatiblePackage>, options: OpenAiCompatibleOptions): Promise<Model> {
  const { model, apiKey, baseURL, fetch, provider = 'openai-compatible', seesPictures = false, ...rest } = options
  checkBaseUrl(baseURL, apiKey)
  const { createOpenAICompatible } = await optionalPackage('@ai-sdk/openai-compatible', load)
  const create = createOpenAICompatible({
    name: provider,
    baseURL,
    includeUsage: true,
    ...(apiKey === undefined ? {} : { apiKey }),
    fetch: withoutRedirects(fetch),
  })
  return fromAiSdk(create.chatModel(model), {
    label: `${provider} ${model}`,
    // Tool results are text in this API, and an image as base64 text would only fill the context.
    resultMedia: (mediaType) => (seesPictures && isPicture(mediaType) ? 'after' : 'named'),
    ...rest,
    secrets: apiKey === undefined ? [] : [apiKey],
  })
}

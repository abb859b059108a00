/** Models behind the chat-completions protocol: most providers, and Ollama, llama.cpp or vLLM on this machine. */

import { type AiSdkModel, fromAiSdk } from './ai-sdk.ts'
import type { Model } from './model.ts'
import { optionalPackage } from './optional-package.ts'
import { isPicture } from './pictures.ts'
import { checkBaseUrl, type ProviderOptions } from './provider-options.ts'

export interface OpenAiCompatibleOptions extends ProviderOptions {
  /** Up to and without `/chat/completions`; Ollama is at `http://127.0.0.1:11434/v1`. */
  baseURL: string
  /** What the provider is called in labels. */
  provider?: string
  /** It understands pictures: those that tools answer with are shown to it. It is only told of them unless given. */
  seesPictures?: boolean
}

/** What of the package is used; every version of it fits. */
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

/** Needs the package `@ai-sdk/openai-compatible` beside this one; ERR_MODEL says so when it is missing. */
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
    ...(fetch ? { fetch } : {}),
  })
  return fromAiSdk(create.chatModel(model), {
    label: `${provider} ${model}`,
    // A result is text in this protocol, and a picture written out as text is worth nothing and fills the context.
    resultMedia: (mediaType) => (seesPictures && isPicture(mediaType) ? 'after' : 'named'),
    ...rest,
    secrets: apiKey === undefined ? [] : [apiKey],
  })
}

/** Models behind the chat-completions protocol: most providers, and Ollama, llama.cpp or vLLM on this machine. */

import { fromAiSdk } from './ai-sdk.ts'
import type { Model } from './model.ts'
import { optionalPackage } from './optional-package.ts'
import { checkBaseUrl, type ProviderOptions } from './provider-options.ts'

export interface OpenAiCompatibleOptions extends ProviderOptions {
  /** Up to and without `/chat/completions`; Ollama is at `http://127.0.0.1:11434/v1`. */
  baseURL: string
  /** What the provider is called in labels. */
  provider?: string
}

/** Needs the package `@ai-sdk/openai-compatible` beside this one; ERR_MODEL says so when it is missing. */
export async function openaiCompatible(options: OpenAiCompatibleOptions): Promise<Model> {
  const { model, apiKey, baseURL, fetch, provider = 'openai-compatible', ...rest } = options
  checkBaseUrl(baseURL, apiKey)
  const { createOpenAICompatible } = await optionalPackage('@ai-sdk/openai-compatible', () => import('@ai-sdk/openai-compatible'))
  const create = createOpenAICompatible({
    name: provider,
    baseURL,
    includeUsage: true,
    ...(apiKey === undefined ? {} : { apiKey }),
    ...(fetch ? { fetch } : {}),
  })
  return fromAiSdk(create.chatModel(model), { label: `${provider} ${model}`, ...rest, secrets: apiKey === undefined ? [] : [apiKey] })
}

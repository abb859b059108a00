/** Models behind the messages protocol of Anthropic. */

import { McpError } from '../../protocol/errors.ts'
import { type AiSdkModel, fromAiSdk } from './ai-sdk.ts'
import type { Model } from './model.ts'
import { optionalPackage } from './optional-package.ts'
import { isPicture } from './pictures.ts'
import { checkBaseUrl, type ProviderOptions } from './provider-options.ts'

// Always said: the package would otherwise take an address from the environment, which nobody has checked.
const ANTHROPIC = 'https://api.anthropic.com/v1'

/** What of the package is used; every version of it fits. */
export interface AnthropicPackage {
  createAnthropic(settings: { apiKey: string; baseURL: string; fetch?: typeof globalThis.fetch }): (model: string) => AiSdkModel
}

/** Needs the package `@ai-sdk/anthropic` beside this one; ERR_MODEL says so when it is missing. */
export const anthropic = (options: ProviderOptions): Promise<Model> => anthropicFrom(() => import('@ai-sdk/anthropic'), options)

export async function anthropicFrom(
  load: () => Promise<AnthropicPackage>,
  { model, apiKey, baseURL = ANTHROPIC, fetch, ...rest }: ProviderOptions,
): Promise<Model> {
  if (apiKey === undefined || apiKey === '')
    throw new McpError('ERR_MODEL', `The model ${model} needs a key: apiKey, from the environment or the vault`)
  checkBaseUrl(baseURL, apiKey)
  const { createAnthropic } = await optionalPackage('@ai-sdk/anthropic', load)
  const create = createAnthropic({ apiKey, baseURL, ...(fetch ? { fetch } : {}) })
  return fromAiSdk(create(model), {
    label: `anthropic ${model}`,
    resultMedia: (mediaType) => (isPicture(mediaType) ? 'within' : 'named'),
    ...rest,
    secrets: [apiKey],
  })
}

/** Models behind the messages protocol of Anthropic. */

import { McpError } from '../../protocol/errors.ts'
import { fromAiSdk } from './ai-sdk.ts'
import type { Model } from './model.ts'
import { optionalPackage } from './optional-package.ts'
import { checkBaseUrl, type ProviderOptions } from './provider-options.ts'

/** Needs the package `@ai-sdk/anthropic` beside this one; ERR_MODEL says so when it is missing. */
export async function anthropic({ model, apiKey, baseURL, fetch, ...rest }: ProviderOptions): Promise<Model> {
  if (apiKey === undefined || apiKey === '')
    throw new McpError('ERR_MODEL', `The model ${model} needs a key: apiKey, from the environment or the vault`)
  if (baseURL !== undefined) checkBaseUrl(baseURL, apiKey)
  const { createAnthropic } = await optionalPackage('@ai-sdk/anthropic', () => import('@ai-sdk/anthropic'))
  const create = createAnthropic({ apiKey, ...(baseURL === undefined ? {} : { baseURL }), ...(fetch ? { fetch } : {}) })
  return fromAiSdk(create(model), { label: `anthropic ${model}`, ...rest, secrets: [apiKey] })
}

/** Models behind the Anthropic messages API. */

import { McpError } from '../../protocol/errors.ts'
import { type AiSdkModel, fromAiSdk } from './ai-sdk.ts'
import { isPicture } from './image-types.ts'
import type { Model } from './language-model.ts'
import { optionalPackage } from './optional-package.ts'
import { checkBaseUrl, type ProviderOptions, withoutRedirects } from './provider-options.ts'

// Always passed: otherwise the package would use an unchecked address from the environment.
export const ANTHROPIC = 'https://api.anthropic.com/v1'

/** The part of the package that is used. All its versions are compatible. */
export interface AnthropicPackage {
  createAnthropic(settings: { apiKey: string; baseURL: string; fetch?: typeof globalThis.fetch }): (model: string) => AiSdkModel
}

/**
 * A model of Anthropic. Needs the package `@ai-sdk/anthropic`; ERR_MODEL if it is not installed.
 *
 * @example
 * const model = await anthropic({ model: 'claude-sonnet-4-5', apiKey: process.env.ANTHROPIC_API_KEY })
 */
export const anthropic = (options: ProviderOptions): Promise<Model> => anthropicFrom(() => import('@ai-sdk/anthropic'), options)

export async function anthropicFrom(
  load: () => Promise<AnthropicPackage>,
  { model, apiKey, baseURL = ANTHROPIC, fetch, ...rest }: ProviderOptions,
): Promise<Model> {
  if (apiKey === undefined || apiKey === '')
    throw new McpError('ERR_MODEL', `The model ${model} needs an API key: pass apiKey, for example from the environment or the vault`)
  checkBaseUrl(baseURL, apiKey)
  const { createAnthropic } = await optionalPackage('@ai-sdk/anthropic', load)
  const create = createAnthropic({ apiKey, baseURL, fetch: withoutRedirects(fetch) })
  return fromAiSdk(create(model), {
    label: `anthropic ${model}`,
    resultMedia: (mediaType) => (isPicture(mediaType) ? 'within' : 'named'),
    ...rest,
    secrets: [apiKey],
  })
}

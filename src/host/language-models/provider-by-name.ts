/** Creates models by the name of their provider. */

import { createRequire } from 'node:module'
import { McpError } from '../../protocol/errors.ts'
import { ANTHROPIC, anthropic } from './anthropic.ts'
import type { Model } from './language-model.ts'
import { MODEL_PROVIDERS, type ModelProvider } from './model-file.ts'
import { openaiCompatible } from './openai-compatible.ts'
import { installCommand } from './optional-package.ts'
import { checkBaseUrl } from './provider-options.ts'

/** The addresses of providers that have one. */
const ADDRESSES: Readonly<Partial<Record<ModelProvider, string>>> = {
  anthropic: ANTHROPIC,
  openai: 'https://api.openai.com/v1',
  ollama: 'http://127.0.0.1:11434/v1',
}

/** Options for `providedModel`. */
export interface ProvidedModelOptions {
  provider: ModelProvider
  /** The provider's name of the model. */
  model: string
  /** Default: the address of the provider. `compatible` has none. */
  baseURL?: string
  /** The API key. It is only sent in request headers. */
  apiKey?: string
}

/**
 * The address of a provider's API.
 * @throws McpError ERR_CONFIG without an address, ERR_INSECURE if the key would be sent unencrypted
 */
export function addressOf({ provider, baseURL, apiKey }: Omit<ProvidedModelOptions, 'model'>): string {
  const address = baseURL ?? ADDRESSES[provider]
  if (address === undefined) throw new McpError('ERR_CONFIG', `A model of the provider ${provider} needs an address (baseURL)`)
  checkBaseUrl(address, apiKey)
  return address
}

/**
 * A model of a provider: `anthropic`, `openai`, `ollama`, or `compatible` for any address with the chat completions API.
 *
 * @example
 * const model = await providedModel({ provider: 'ollama', model: 'qwen3' })
 */
export async function providedModel({ provider, model, baseURL, apiKey }: ProvidedModelOptions): Promise<Model> {
  const key = apiKey === undefined ? {} : { apiKey }
  if (provider === 'anthropic') return anthropic({ model, baseURL: addressOf({ provider, baseURL, apiKey }), ...key })
  const named = provider === 'compatible' ? {} : { provider }
  return openaiCompatible({ model, baseURL: addressOf({ provider, baseURL, apiKey }), ...named, ...key })
}

/** What a provider needs. */
export interface ProviderFacts {
  id: ModelProvider
  /** Its address. Undefined: you must give one. */
  baseURL?: string
  /** `optional`: depends on the address. */
  key: 'needed' | 'optional' | 'none'
  /** The package that talks to it. */
  package: string
  isInstalled: boolean
  /** The command that installs it. */
  install: string
}

const KEYS: Readonly<Record<ModelProvider, ProviderFacts['key']>> = {
  anthropic: 'needed',
  openai: 'needed',
  ollama: 'none',
  compatible: 'optional',
}

/** @throws McpError ERR_CONFIG without a key that the provider needs */
export function checkKey(provider: ModelProvider, apiKey: string | undefined): void {
  if (KEYS[provider] === 'needed' && apiKey === undefined) throw new McpError('ERR_CONFIG', `A model of ${provider} needs an API key`)
}

/**
 * What each provider of models needs, and whether its package is installed.
 *
 * @example
 * const usable = modelProviders().filter(({ isInstalled }) => isInstalled)
 */
export const modelProviders = (): readonly ProviderFacts[] =>
  MODEL_PROVIDERS.map((id) => {
    const name = id === 'anthropic' ? '@ai-sdk/anthropic' : '@ai-sdk/openai-compatible'
    return {
      id,
      ...(ADDRESSES[id] !== undefined && { baseURL: ADDRESSES[id] }),
      key: KEYS[id],
      package: name,
      isInstalled: isInstalled(name),
      install: installCommand(name),
    }
  })

/** Finds the package without loading it, which takes long. A package without an entry for `require` is there all the same. */
function isInstalled(name: string): boolean {
  try {
    createRequire(import.meta.url).resolve(name)
    return true
  } catch (error) {
    return (error as { code?: unknown }).code !== 'MODULE_NOT_FOUND'
  }
}

/** Models by name: `scripted`, `anthropic:NAME`, `openai:NAME`, `ollama:NAME`, `compatible:NAME`. */

import { anthropic, type Model, openaiCompatible } from '../../host/index.ts'
import { UsageError } from '../errors.ts'
import type { Io } from '../io.ts'

const OPENAI = 'https://api.openai.com/v1'
const OLLAMA = 'http://127.0.0.1:11434/v1'

export const MODEL_HELP =
  'scripted (no language model), anthropic:NAME, openai:NAME, ollama:NAME, or compatible:NAME with --base-url; API keys are read from ANTHROPIC_API_KEY and OPENAI_API_KEY'

export async function modelNamed({ env }: Pick<Io, 'env'>, name: string, baseURL: string | undefined): Promise<Model> {
  if (name === 'scripted') return (await import('../../testing/index.ts')).scriptedModel()
  const colon = name.indexOf(':')
  const [provider, model] = [name.slice(0, colon), name.slice(colon + 1)]
  if (colon < 1 || model === '') throw new UsageError(`${JSON.stringify(name)} is not a model`, `Expected ${MODEL_HELP}`)
  if (provider === 'anthropic') {
    return anthropic({ model, ...keyOf(env.ANTHROPIC_API_KEY), ...(baseURL !== undefined && { baseURL }) })
  }
  switch (provider) {
    case 'openai':
      return openaiCompatible({ model, provider, baseURL: baseURL ?? OPENAI, ...keyOf(env.OPENAI_API_KEY) })
    case 'ollama':
      return openaiCompatible({ model, provider, baseURL: baseURL ?? OLLAMA })
    case 'compatible':
      if (baseURL === undefined) throw new UsageError('compatible:NAME needs --base-url')
      return openaiCompatible({ model, baseURL, ...keyOf(env.OPENAI_API_KEY) })
    default:
      throw new UsageError(`Unknown model provider ${JSON.stringify(provider)}`, `Expected ${MODEL_HELP}`)
  }
}

const keyOf = (apiKey: string | undefined): { apiKey?: string } => (apiKey === undefined || apiKey === '' ? {} : { apiKey })

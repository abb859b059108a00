/** Models by name: `scripted`, `anthropic:NAME`, `openai:NAME`, `ollama:NAME`, `compatible:NAME`, and those stored in the console. */

import { type HostOptions, MODEL_PROVIDERS, type Model, modelFile, providedModel } from '../../host/index.ts'
import { hostFolderOf } from '../connections/host-files.ts'
import { UsageError } from '../errors.ts'
import type { Io } from '../io.ts'

export const MODEL_HELP =
  'scripted (no language model), anthropic:NAME, openai:NAME, ollama:NAME, or compatible:NAME with --base-url; API keys are read from ANTHROPIC_API_KEY and OPENAI_API_KEY, or from the vault for a model that you added in the console (default: the first of those, otherwise scripted)'

/** The models for the options of a host. Without a name: the stored models. If no model is stored: the script. */
export async function chosenModel(
  io: Pick<Io, 'env'>,
  name: string | undefined,
  baseURL: string | undefined,
): Promise<Pick<HostOptions, 'model' | 'fallbackModel'>> {
  if (name === undefined) return { fallbackModel: await scripted() }
  const isStored = baseURL === undefined && (await modelFile(hostFolderOf(io)).list()).some(({ id }) => id === name)
  return { model: isStored ? name : await modelNamed(io, name, baseURL) }
}

const scripted = async (): Promise<Model> => (await import('../../testing/index.ts')).scriptedModel()

async function modelNamed({ env }: Pick<Io, 'env'>, name: string, baseURL: string | undefined): Promise<Model> {
  if (name === 'scripted') return scripted()
  const colon = name.indexOf(':')
  const model = name.slice(colon + 1)
  if (colon < 1 || model === '') throw new UsageError(`${JSON.stringify(name)} is not a model`, `Expected ${MODEL_HELP}`)
  const provider = MODEL_PROVIDERS.find((each) => each === name.slice(0, colon))
  if (!provider) throw new UsageError(`Unknown model provider ${JSON.stringify(name.slice(0, colon))}`, `Expected ${MODEL_HELP}`)
  if (provider === 'compatible' && baseURL === undefined) throw new UsageError('compatible:NAME needs --base-url')
  return providedModel({ provider, model, ...(baseURL !== undefined && { baseURL }), ...keyOf(env, provider) })
}

function keyOf(env: Io['env'], provider: (typeof MODEL_PROVIDERS)[number]): { apiKey?: string } {
  const apiKey = provider === 'ollama' ? undefined : provider === 'anthropic' ? env.ANTHROPIC_API_KEY : env.OPENAI_API_KEY
  return apiKey === undefined || apiKey === '' ? {} : { apiKey }
}

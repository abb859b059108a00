/** The models that the person stored, in the folder of the host. Keys are in the vault; the file has only their names. */

import { join } from 'node:path'
import { isObject } from '../../base/json.ts'
import type { FileFormat } from '../../files/file-format.ts'
import { sharedJson } from '../../files/shared-json.ts'
import { McpError } from '../../protocol/errors.ts'

/** The services that models can be used from. `compatible`: any address with the chat completions API. */
export const MODEL_PROVIDERS = ['anthropic', 'openai', 'ollama', 'compatible'] as const

/** @see MODEL_PROVIDERS */
export type ModelProvider = (typeof MODEL_PROVIDERS)[number]

/** A model that the person stored. */
export interface ModelSpec {
  /** The provider and its name of the model, as in `ollama:qwen3`. With the address of a second one of this name: `ollama:qwen3@box:11434`. */
  id: string
  provider: ModelProvider
  /** The provider's name of the model. */
  model: string
  /** The address of the API. Default: that of the provider. */
  baseURL?: string
  /** The name of the key in the vault. Undefined: it needs none. */
  secret?: string
}

/** The list of stored models. */
export interface ModelFile {
  readonly file: string
  list(): Promise<readonly ModelSpec[]>
  /** @throws McpError ERR_CONFIG if there is such a model, ERR_LIMIT if there are too many */
  add(spec: ModelSpec): Promise<void>
  /** Resolves with the removed model. Undefined: it was not listed. */
  remove(id: string): Promise<ModelSpec | undefined>
}

interface Document {
  models: readonly ModelSpec[]
}

const FORMAT: FileFormat = { version: 1, upgrades: [(data) => data] }

/** More than a person chooses from. */
const MAX_MODELS = 100

/**
 * Opens the list of stored models, `models.json` in this folder.
 *
 * @example
 * const models = await modelFile(hostFolder()).list()
 */
export function modelFile(folder: string): ModelFile {
  const shared = sharedJson<Document>(join(folder, 'models.json'), { empty: { models: [] }, format: FORMAT, check })
  return {
    file: shared.file,
    list: async () => (await shared.read()).models,
    add: async (spec) => {
      await shared.update(({ models }) => {
        if (models.some(({ id }) => id === spec.id))
          throw new McpError('ERR_CONFIG', `There is a model ${spec.id} already: remove it first`)
        if (models.length >= MAX_MODELS) throw new McpError('ERR_LIMIT', `There are ${MAX_MODELS} models already: remove one first`)
        return { models: [...models, spec] }
      })
    },
    remove: async (id) => {
      let removed: ModelSpec | undefined
      await shared.update(({ models }) => {
        removed = models.find((each) => each.id === id)
        return { models: models.filter((each) => each.id !== id) }
      })
      return removed
    },
  }
}

function check(value: unknown): Document {
  if (!isObject(value) || !Array.isArray(value.models) || !value.models.every(isSpec)) throw new Error('expected a list of models')
  return { models: value.models }
}

const isSpec = (value: unknown): value is ModelSpec =>
  isObject(value) &&
  typeof value.model === 'string' &&
  MODEL_PROVIDERS.some((each) => each === value.provider) &&
  typeof value.id === 'string' &&
  `${value.id}@`.startsWith(`${value.provider}:${value.model}@`) &&
  [value.baseURL, value.secret].every((each) => each === undefined || typeof each === 'string')

/** The models that the person stored. Each is opened with its first request, because that needs the vault and a package. */

import { McpError } from '../../protocol/errors.ts'
import type { Vault } from '../secrets/vault.ts'
import type { Model } from './language-model.ts'
import { type ModelFile, type ModelSpec, modelFile } from './model-file.ts'
import { addressOf, checkKey, type ProvidedModelOptions, providedModel } from './provider-by-name.ts'

export interface StoredModelsOptions {
  /** The folder of the host. */
  folder: string
  vault(): Promise<Vault>
  /** Called with each key before it is used. */
  onKey(value: string, name: string): void
  /** Opens a model. Default: `providedModel`. */
  open?(options: ProvidedModelOptions): Promise<Model>
}

/** Where keys are in the vault. */
const KEY_PREFIX = 'model/'

const MAX_NAME_CHARS = 200
const MAX_ADDRESS_CHARS = 2_000

/** The models that the person stored in the folder of a host. */
export class StoredModels {
  readonly #options: StoredModelsOptions
  readonly #file: ModelFile
  #opened: ReadonlyMap<string, { spec: string; model: Model }> = new Map()

  constructor(options: StoredModelsOptions) {
    this.#options = options
    this.#file = modelFile(options.folder)
  }

  /** As of the last `list`, `add` or `remove`. */
  get models(): readonly Model[] {
    return [...this.#opened.values()].map(({ model }) => model)
  }

  /**
   * Reads the list, which other processes may have changed.
   * @example
   * for (const { id } of await host.storedModels.list()) console.log(id)
   */
  async list(): Promise<readonly ModelSpec[]> {
    const specs = await this.#file.list()
    // A model that stays is not opened again.
    this.#opened = new Map(
      specs.map((spec) => {
        const text = JSON.stringify(spec)
        const known = this.#opened.get(spec.id)
        return [spec.id, known?.spec === text ? known : { spec: text, model: this.#lazy(spec) }]
      }),
    )
    return specs
  }

  /**
   * Stores a model. Its key is stored in the vault. Nothing is sent.
   * @throws McpError ERR_CONFIG if a value cannot be used or there is such a model, ERR_INSECURE if the key would be sent unencrypted
   * @example
   * await host.storedModels.add({ provider: 'ollama', model: 'qwen3' })
   */
  async add({ provider, model: given, baseURL, apiKey }: ProvidedModelOptions): Promise<ModelSpec> {
    const model = given.trim()
    // Anything longer or with control characters is a paste that went wrong.
    if (model === '' || model.length > MAX_NAME_CHARS || /[\p{Cc}\p{Cf}]/u.test(model))
      throw new McpError('ERR_CONFIG', `Expected the name of a model with 1 to ${MAX_NAME_CHARS} visible characters`)
    if ((baseURL?.length ?? 0) > MAX_ADDRESS_CHARS)
      throw new McpError('ERR_CONFIG', `Expected an address with at most ${MAX_ADDRESS_CHARS} characters`)
    const address = addressOf({ provider, baseURL, apiKey })
    checkKey(provider, apiKey)
    // Before the key is stored.
    const id = freeId({ provider, model, address }, await this.#file.list())
    const secret = apiKey === undefined ? undefined : await this.#keep(id, apiKey)
    const spec: ModelSpec = {
      id,
      provider,
      model,
      ...(baseURL !== undefined && { baseURL }),
      ...(secret !== undefined && { secret }),
    }
    await this.#file.add(spec)
    await this.list()
    return spec
  }

  /**
   * Removes a model, and its key if no other model uses it. False: it was not stored.
   * @example
   * await host.storedModels.remove('ollama:qwen3')
   */
  async remove(id: string): Promise<boolean> {
    const removed = await this.#file.remove(id)
    const rest = await this.list()
    const { secret } = removed ?? {}
    if (secret?.startsWith(KEY_PREFIX) && !rest.some((each) => each.secret === secret)) await (await this.#options.vault()).delete(secret)
    return removed !== undefined
  }

  async #keep(id: string, apiKey: string): Promise<string> {
    const name = `${KEY_PREFIX}${id.replaceAll(/[^A-Za-z0-9_.-]+/g, '-').slice(0, 80)}`
    this.#options.onKey(apiKey, name)
    return (await this.#options.vault()).keep(name, apiKey)
  }

  #lazy(spec: ModelSpec): Model {
    const { id, provider, model } = spec
    const { open = providedModel } = this.#options
    let opened: { apiKey: string | undefined; model: Model } | undefined
    const current = async (): Promise<Model> => {
      const apiKey = await this.#keyOf(spec)
      // The person may have stored another key.
      if (!opened || opened.apiKey !== apiKey) {
        const { baseURL } = spec
        opened = {
          apiKey,
          model: await open({ provider, model, ...(baseURL !== undefined && { baseURL }), ...(apiKey !== undefined && { apiKey }) }),
        }
      }
      return opened.model
    }
    return {
      id,
      label: labelOf(spec),
      async *stream(request, signal) {
        yield* (await current()).stream(request, signal)
      },
    }
  }

  async #keyOf({ id, secret }: ModelSpec): Promise<string | undefined> {
    if (secret === undefined) return undefined
    const { vault, onKey } = this.#options
    const apiKey = await (await vault()).get(secret)
    if (apiKey === undefined)
      throw new McpError(
        'ERR_SECRET',
        `The key of the model ${id} is no longer in the vault (${secret}): remove the model and add it again`,
      )
    onKey(apiKey, secret)
    return apiKey
  }
}

/** Two models of a provider may have the same name. */
function labelOf({ id, provider, model, baseURL }: ModelSpec): string {
  if (provider === 'compatible') return `${hostIn(baseURL)} ${model}`
  return id === `${provider}:${model}` ? `${provider} ${model}` : `${provider} ${model} at ${hostIn(baseURL)}`
}

const hostIn = (baseURL: string | undefined): string =>
  baseURL !== undefined && URL.canParse(baseURL) ? new URL(baseURL).host : 'compatible'

/** The same name at another address is another model: its id ends with the address. */
function freeId(
  { provider, model, address }: { provider: ModelSpec['provider']; model: string; address: string },
  stored: readonly ModelSpec[],
): string {
  const short = `${provider}:${model}`
  const alike = stored.filter((each) => each.provider === provider && each.model === model)
  const same = alike.find(({ baseURL }) => plain(baseURL ?? addressOf({ provider })) === plain(address))
  if (same) throw new McpError('ERR_CONFIG', `There is a model ${same.id} already: remove it first`)
  const { host, pathname } = new URL(address)
  const ids = [short, `${short}@${host}`, `${short}@${host}${pathname}`]
  return ids.find((id) => !stored.some((each) => each.id === id)) ?? `${short}@${address}`
}

const plain = (address: string): string => (URL.canParse(address) ? new URL(address).href.replace(/\/+$/, '') : address)

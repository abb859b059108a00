/** The models in the settings: rows of the list, and the form that stores one. */

import type { ModelProviderView, ModelView, NewModel, StoredModelView } from '../../../src/console/api.ts'

/** A model in the list. */
export interface ModelRow {
  id: string
  label: string
  /** Where it comes from, in words. */
  about: string
  /** Stored by the person: it can be tested and removed. */
  stored?: StoredModelView
}

/** In the order of the chat: the first is used where none is chosen. */
export const modelRows = (models: readonly ModelView[], stored: readonly StoredModelView[]): ModelRow[] =>
  models.map(({ id, label, kind }) => {
    const own = stored.find((each) => each.id === id)
    return { id, label, about: own ? placeOf(own) : KINDS[kind], ...(own && { stored: own }) }
  })

const KINDS: Readonly<Record<ModelView['kind'], string>> = {
  configured: 'given when Portico was started',
  scripted: 'rules in place of a language model',
  person: 'you answer in the page',
}

const placeOf = ({ provider, baseURL, secret }: StoredModelView): string =>
  [baseURL ?? PROVIDERS[provider], secret === undefined ? 'no key' : `key in the vault: ${secret}`].join(', ')

const PROVIDERS: Readonly<Record<ModelProviderView['id'], string>> = {
  anthropic: 'Anthropic',
  openai: 'OpenAI',
  ollama: 'Ollama on this computer',
  compatible: 'Another address',
}

export const providerLabel = (id: ModelProviderView['id']): string => PROVIDERS[id]

/** An example of a name, for the empty field. */
export const nameExample = (id: ModelProviderView['id']): string => EXAMPLES[id]

const EXAMPLES: Readonly<Record<ModelProviderView['id'], string>> = {
  anthropic: 'claude-sonnet-4-5',
  openai: 'gpt-5-mini',
  ollama: 'qwen3',
  compatible: 'the name that the address expects',
}

/** What the person typed. */
export interface ModelDraft {
  provider: ModelProviderView['id']
  model: string
  baseURL: string
  key: string
}

export interface ModelFaults {
  model?: string
  baseURL?: string
  key?: string
}

/** What is wrong with it. Fields that are still empty are missing, not wrong. */
export function modelFaults(
  { model, baseURL, key }: ModelDraft,
  provider: ModelProviderView,
  stored: readonly StoredModelView[],
): ModelFaults {
  const address = baseURL.trim()
  const url = URL.canParse(address) ? new URL(address) : undefined
  const faults: ModelFaults = {}
  const place = plainAddress(address || provider.baseURL)
  const isTaken = stored.some(
    (each) => each.provider === provider.id && each.model === model.trim() && plainAddress(each.baseURL ?? provider.baseURL) === place,
  )
  if (isTaken && place !== '') faults.model = 'This model at this address is in the list already'
  if (address !== '' && url?.protocol !== 'https:' && url?.protocol !== 'http:')
    faults.baseURL = `Expected an address that begins with https:// or http://, got "${address}"`
  else if (url?.protocol === 'http:' && key.trim() !== '' && !isThisComputer(url.hostname))
    faults.key = `The key would be sent unencrypted to ${url.host}: use an address with https`
  return faults
}

const plainAddress = (address = ''): string => (URL.canParse(address) ? new URL(address).href.replace(/\/+$/, '') : '')

const isThisComputer = (host: string): boolean =>
  host === 'localhost' || host.endsWith('.localhost') || host === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(host)

/** What to store. Undefined while something is missing or wrong. */
export function newModelOf(draft: ModelDraft, provider: ModelProviderView, stored: readonly StoredModelView[]): NewModel | undefined {
  const [model, baseURL, key] = [draft.model.trim(), draft.baseURL.trim(), draft.key.trim()]
  if (model === '' || (baseURL === '' && provider.baseURL === undefined) || (key === '' && provider.key === 'needed')) return undefined
  if (Object.keys(modelFaults(draft, provider, stored)).length > 0) return undefined
  return {
    provider: provider.id,
    model,
    ...(baseURL !== '' && baseURL !== provider.baseURL && { baseURL }),
    ...(key !== '' && provider.key !== 'none' && { key }),
  }
}

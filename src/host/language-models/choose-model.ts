/** Chooses a model by a server's preferences. Preferences are advisory: a model is always chosen if there is one. */

import type { ModelPreferences } from '../../protocol/model/sampling.ts'
import type { Model, ModelTraits } from './language-model.ts'

export interface ChooseOptions {
  /** Your models to use for a server's hint: `{ sonnet: ['qwen3'] }`. Hints and models are given as parts of their names. */
  equivalents?: Readonly<Record<string, readonly string[]>>
}

/**
 * The first hint that is part of a model's name decides. Among several matches, priorities decide, then the configured order. A hint
 * for an unavailable model family is mapped to the most similar model.
 */
export function chooseModel(models: readonly Model[], preferences: ModelPreferences = {}, options: ChooseOptions = {}): Model | undefined {
  const hints = hintsOf(preferences)
  for (const hint of hints) {
    const matches = models.filter(({ id }) => names(hint, options).some((name) => id.toLowerCase().includes(name)))
    if (matches.length > 0) return best(matches, (model) => score(model, preferences))
  }
  const family = hints.map(familyOf).find((traits) => traits !== undefined)
  if (family) return best(models, (model) => -distance(traitsOf(model), family))
  return best(models, (model) => score(model, preferences))
}

// Bounds the work that a server can cause.
const MAX_HINTS = 100
const MAX_HINT_CHARS = 256

const hintsOf = ({ hints }: ModelPreferences): string[] =>
  (hints ?? []).slice(0, MAX_HINTS).flatMap(({ name }) => {
    const hint = typeof name === 'string' ? name.trim().slice(0, MAX_HINT_CHARS).toLowerCase() : ''
    return hint === '' ? [] : [hint]
  })

function names(hint: string, { equivalents = {} }: ChooseOptions): string[] {
  const others = Object.entries(equivalents).flatMap(([name, ours]) => (hint.includes(name.toLowerCase()) ? ours : []))
  return [hint, ...others.map((name) => name.toLowerCase())]
}

/** Parts of names by which vendors distinguish small and large models. */
const FAMILIES: readonly (readonly [parts: readonly string[], traits: Required<ModelTraits>])[] = [
  [['haiku', 'mini', 'nano', 'flash', 'lite', 'small', 'instant', 'tiny'], { cost: 0.1, speed: 0.9, intelligence: 0.4 }],
  [['opus', 'ultra', 'large', 'pro', 'max'], { cost: 0.9, speed: 0.3, intelligence: 1 }],
  [['sonnet', 'claude', 'gpt', 'gemini', 'medium', 'mistral', 'llama', 'qwen'], { cost: 0.5, speed: 0.6, intelligence: 0.8 }],
]

// Whole words only: `gemini` is not a `mini`.
const familyOf = (hint: string): Required<ModelTraits> | undefined => {
  const words = hint.split(/[^a-z]+/)
  return FAMILIES.find(([parts]) => parts.some((part) => words.includes(part)))?.[1]
}

const traitsOf = ({ traits }: Model): Required<ModelTraits> => ({
  cost: share(traits?.cost),
  speed: share(traits?.speed),
  intelligence: share(traits?.intelligence),
})

const share = (value: number | undefined, unknown = 0.5): number =>
  typeof value === 'number' && !Number.isNaN(value) ? Math.min(1, Math.max(0, value)) : unknown

function score(model: Model, { costPriority, speedPriority, intelligencePriority }: ModelPreferences): number {
  const { cost, speed, intelligence } = traitsOf(model)
  return share(costPriority, 0) * (1 - cost) + share(speedPriority, 0) * speed + share(intelligencePriority, 0) * intelligence
}

const distance = (a: Required<ModelTraits>, b: Required<ModelTraits>): number =>
  Math.hypot(a.cost - b.cost, a.speed - b.speed, a.intelligence - b.intelligence)

/** The model with the highest worth; if several have it, the first of them. */
function best(models: readonly Model[], worth: (model: Model) => number): Model | undefined {
  let chosen: { model: Model; worth: number } | undefined
  for (const model of models) {
    const its = worth(model)
    if (!chosen || its > chosen.worth) chosen = { model, worth: its }
  }
  return chosen?.model
}

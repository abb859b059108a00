import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { chooseModel } from '../../../src/host/language-models/choose-model.ts'
import type { Model, ModelTraits } from '../../../src/host/language-models/language-model.ts'
import { proves } from '../../support/proves.ts'

const modelOf = (id: string, traits?: ModelTraits): Model => ({
  id,
  label: id,
  ...(traits ? { traits } : {}),
  stream: () => expect.unreachable('choosing asks nobody'),
})

const cheap = modelOf('claude-3-haiku', { cost: 0.1, speed: 0.9, intelligence: 0.3 })
const middle = modelOf('claude-3-5-sonnet-20241022', { cost: 0.5, speed: 0.6, intelligence: 0.8 })
const dear = modelOf('gpt-5', { cost: 0.9, speed: 0.3, intelligence: 1 })
const models = [cheap, middle, dear]
const hinted = (...names: string[]) => ({ hints: names.map((name) => ({ name })) })

describe('a hint', () => {
  test('a hint is a part of the name of a model, in any case', () => {
    proves('T-SAMP-030', 'T-SAMP-031', 'T-SAMP-042')
    expect(chooseModel(models, hinted('sonnet'))).toBe(middle)
    expect(chooseModel(models, hinted('GPT'))).toBe(dear)
    expect(chooseModel(models, hinted('claude'))?.id).toContain('claude')
  })

  test('the first hint that matches wins', () => {
    proves('T-SAMP-032')
    expect(chooseModel(models, hinted('no-such-model', 'gpt', 'sonnet'))).toBe(dear)
    expect(chooseModel(models, hinted('sonnet', 'gpt'))).toBe(middle)
  })

  test('a hint wins over priorities', () => {
    proves('T-SAMP-033')
    expect(chooseModel(models, { ...hinted('gpt'), costPriority: 1, speedPriority: 1 })).toBe(dear)
  })

  test('among several models that match a hint, the priorities decide', () => {
    proves('T-SAMP-034')
    expect(chooseModel(models, { ...hinted('claude'), costPriority: 1 })).toBe(cheap)
    expect(chooseModel(models, { ...hinted('claude'), intelligencePriority: 1 })).toBe(middle)
  })

  test('a hint for a missing family selects the configured equivalent, or the most similar model', () => {
    proves('T-SAMP-035')
    const ours = [
      modelOf('qwen3-4b', { cost: 0, speed: 0.9, intelligence: 0.3 }),
      modelOf('qwen3-235b', { cost: 0.7, speed: 0.2, intelligence: 0.9 }),
    ]
    expect(chooseModel(ours, hinted('claude-opus'), { equivalents: { opus: ['4b'] } })?.id).toBe('qwen3-4b')
    expect(chooseModel(ours, hinted('claude-opus'))?.id).toBe('qwen3-235b')
    expect(chooseModel(ours, hinted('gpt-5-mini'))?.id).toBe('qwen3-4b')
  })

  test('an unknown hint leaves the choice to the priorities, without an error', () => {
    expect(chooseModel(models, { ...hinted('zorg'), intelligencePriority: 1 })).toBe(dear)
    expect(chooseModel(models, { hints: [{}, { name: '' }, { name: 7 as never }], speedPriority: 1 })).toBe(cheap)
  })
})

test('without preferences the first model is chosen, and without models none', () => {
  expect(chooseModel(models)).toBe(cheap)
  expect(chooseModel([])).toBeUndefined()
})

describe('for all preferences', () => {
  const share = fc.integer({ min: 0, max: 100 }).map((percent) => percent / 100)
  const anyModels = fc
    .uniqueArray(fc.constantFrom('a-mini', 'a-pro', 'b-mini', 'b-pro', 'c', 'd-opus'), { minLength: 1 })
    .chain((ids) =>
      fc.tuple(...ids.map((id) => fc.record({ cost: share, speed: share, intelligence: share }).map((traits) => modelOf(id, traits)))),
    )
  const anyPreferences = fc.record(
    {
      hints: fc.array(fc.record({ name: fc.constantFrom('a', 'b', 'mini', 'pro', 'c', 'x', 'zz', 'OPUS') }), { maxLength: 4 }),
      costPriority: share,
      speedPriority: share,
      intelligencePriority: share,
    },
    { requiredKeys: [] },
  )

  test('one of the models is chosen, and always the same one', () => {
    fc.assert(
      fc.property(anyModels, anyPreferences, (some, preferences) => {
        const chosen = chooseModel(some, preferences)
        expect(some).toContain(chosen)
        expect(chooseModel(some, preferences)).toBe(chosen)
      }),
    )
  })

  test('the chosen model matches the first hint that any model matches', () => {
    proves('T-SAMP-032')
    fc.assert(
      fc.property(anyModels, anyPreferences, (some, preferences) => {
        const first = preferences.hints?.find(({ name }) => some.some(({ id }) => id.includes(name.toLowerCase())))
        if (first) expect(chooseModel(some, preferences)?.id).toContain(first.name.toLowerCase())
      }),
    )
  })

  test('no other matching model is better in every respect', () => {
    proves('T-SAMP-034')
    fc.assert(
      fc.property(anyModels, share, share, share, (some, costPriority, speedPriority, intelligencePriority) => {
        const chosen = chooseModel(some, { costPriority, speedPriority, intelligencePriority })?.traits as Required<ModelTraits>
        const isBetter = ({ traits }: Model): boolean => {
          const { cost, speed, intelligence } = traits as Required<ModelTraits>
          return cost < chosen.cost && speed > chosen.speed && intelligence > chosen.intelligence
        }
        if (costPriority + speedPriority + intelligencePriority > 0) expect(some.filter(isBetter)).toEqual([])
      }),
    )
  })

  test('the order of the configuration decides only between equal models', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 5 }), anyPreferences, (count, preferences) => {
        const same = Array.from({ length: count }, (_, at) => modelOf(`same-${at}`, { cost: 0.5 }))
        expect(chooseModel(same, preferences)).toBe(same[0])
      }),
    )
  })
})

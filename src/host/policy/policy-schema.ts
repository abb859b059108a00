/** The JSON Schema of a policy file. Unknown members are errors, because a rule with a typo protects nothing. */

import { EFFECTS } from '../model/action.ts'
import { GRANT_SCOPES } from '../model/grant.ts'
import { PRESETS } from '../model/rule.ts'

export interface PolicyLimits {
  /** Maximum size of the file of one layer. */
  maxFileBytes: number
  /** Maximum number of rules in one layer. */
  maxRules: number
  /** Maximum length of a name, a pattern, a folder or a host. */
  maxPatternLength: number
  /** Maximum number of entries in one list, and of pointers in one rule. */
  maxEntries: number
}

export const DEFAULT_POLICY_LIMITS: PolicyLimits = { maxFileBytes: 1024 * 1024, maxRules: 2_000, maxPatternLength: 1_024, maxEntries: 256 }

type Schema = Record<string, unknown>

export function policySchema({ maxRules, maxPatternLength, maxEntries }: PolicyLimits): Schema {
  const text: Schema = { type: 'string', minLength: 1, maxLength: maxPatternLength }
  const listOf = (items: Schema): Schema => ({ type: 'array', minItems: 1, maxItems: maxEntries, items })
  const oneOrMore: Schema = { if: { type: 'array' }, then: listOf(text), else: text }
  const count: Schema = { type: 'integer', minimum: 1 }
  const hints = record(Object.fromEntries(HINTS.map((hint) => [hint, { type: 'boolean' }])))
  const initiators: Schema = { enum: ['user', 'model', 'app', 'server'] }
  const argument = record({
    eq: true,
    in: { type: 'array', minItems: 1, maxItems: maxEntries },
    glob: text,
    re2: text,
    within: oneOrMore,
    hostIn: listOf(text),
    cidr: listOf(text),
    len: record({ min: { type: 'integer', minimum: 0 }, max: { type: 'integer', minimum: 0 } }),
    min: { type: 'number' },
    max: { type: 'number' },
    schema: { type: 'object' },
  })
  const match = record({
    action: oneOrMore,
    server: oneOrMore,
    tool: oneOrMore,
    tier: { enum: ['trusted', 'untrusted'] },
    initiator: { if: { type: 'array' }, then: listOf(initiators), else: initiators },
    mode: { enum: ['interactive', 'headless'] },
    labels: listOf(text),
    claimed: hints,
    asserted: hints,
  })
  const rule = record(
    {
      id: { type: 'string', minLength: 1, maxLength: 128 },
      effect: { enum: EFFECTS },
      match,
      args: {
        type: 'object',
        minProperties: 1,
        maxProperties: maxEntries,
        propertyNames: { maxLength: maxPatternLength },
        additionalProperties: argument,
      },
      limits: record({ rate: text, concurrent: count, resultBytes: count, spendTokens: count }),
      grant: record({ scope: { enum: GRANT_SCOPES }, ttl: text, maxUses: count }),
      mayRelax: { type: 'boolean' },
      reason: { type: 'string', maxLength: maxPatternLength },
    },
    ['id', 'effect', 'match'],
  )
  return record({ preset: { enum: PRESETS }, rules: { type: 'array', maxItems: maxRules, items: rule } }, ['rules'])
}

const HINTS = ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint']

const record = (properties: Schema, required: readonly string[] = []): Schema => ({
  type: 'object',
  additionalProperties: false,
  properties,
  required,
})

/** Puts rules into one sentence each. */

import { patternText } from '../../host/index.ts'
import type { Policy, Rule } from '../../host/policy-tools/index.ts'
import type { LayerName, RuleView } from '../api.ts'
import { actionText, listed } from './action-text.ts'

/** All rules as sentences, in the order of their layers. */
export const ruleViews = (layers: Policy['layers']): RuleView[] =>
  (Object.entries(layers) as [LayerName, readonly Rule[]][]).flatMap(([layer, rules]) =>
    rules.map((rule) => ({
      id: rule.id,
      layer,
      effect: rule.effect,
      text: ruleText(rule),
      ...(rule.reason !== undefined && { reason: rule.reason }),
    })),
  )

/** A rule as one sentence: `Start, connect to and enable notes or deploy without a question`. */
function ruleText({ effect, match, args, limits }: Rule): string {
  const { tier, initiator, mode, labels, claimed, asserted } = match
  const conditions = [
    ...(tier === undefined ? [] : [`the server is ${tier}`]),
    ...(initiator === undefined ? [] : [`${listed([initiator].flat().map(personWord), 'or')} asks for it`]),
    ...(mode === undefined ? [] : [mode === 'headless' ? 'no person is present' : 'a person is present']),
    ...(labels ? [`the conversation or the server has the label ${listed(labels, 'and')}`] : []),
    ...hintTexts('the server says that it', claimed),
    ...hintTexts('you said that it', asserted),
    ...(args ? [patternText(args).replaceAll('\n', ' and ')] : []),
  ]
  const bounds = limits
    ? `, at most ${Object.entries(limits)
        .map(([name, value]) => `${LIMITS[name] ?? name} ${value}`)
        .join(', ')}`
    : ''
  const sentence = EFFECTS[effect](actionText(match))
  return `${capital(sentence)}${conditions.length === 0 ? '' : ` if ${conditions.join(' and ')}`}${bounds}`
}

const EFFECTS: Readonly<Record<Rule['effect'], (what: string) => string>> = {
  allow: (what) => `${what} without a question`,
  ask: (what) => `ask first, then ${what}`,
  quarantine: (what) => `hold back, and do not ${what}`,
  deny: (what) => `never ${what}`,
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

const personWord = (initiator: string): string => (initiator === 'user' ? 'you' : `${initiator === 'app' ? 'an' : 'the'} ${initiator}`)
const LIMITS: Readonly<Record<string, string>> = {
  rate: 'a rate of',
  concurrent: 'at the same time',
  resultBytes: 'bytes of a result:',
  spendTokens: 'tokens:',
}

const HINTS: Readonly<Record<string, readonly [yes: string, no: string]>> = {
  readOnlyHint: ['only reads', 'does not only read'],
  destructiveHint: ['is destructive', 'is not destructive'],
  idempotentHint: ['can be repeated', 'cannot be repeated'],
  openWorldHint: ['leaves this computer', 'stays on this computer'],
}

const hintTexts = (who: string, hints: object | undefined): string[] =>
  Object.entries(hints ?? {}).flatMap(([name, value]) => {
    const words = HINTS[name]
    return words && typeof value === 'boolean' ? [`${who} ${words[value ? 0 : 1]}`] : []
  })

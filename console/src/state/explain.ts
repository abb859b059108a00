/** The decision of the policy about a call, in a few words. */

import type { Explanation } from '../../../src/host/policy-tools/index.ts'
import type { Tone } from './servers.ts'

export function decisionWords({ decision }: Pick<Explanation, 'decision'>): { word: string; tone: Tone } {
  switch (decision.effect) {
    case 'allow':
      return { word: decision.grant === undefined ? 'allowed without a question' : 'allowed, because you allowed it before', tone: 'fine' }
    case 'ask':
      return { word: decision.isForced ? 'you are asked each time' : 'you are asked', tone: 'waiting' }
    case 'quarantine':
      return { word: 'held back until you approve the change', tone: 'danger' }
    default:
      return { word: 'denied', tone: 'danger' }
  }
}

/** Whether the person can allow it for good: it is asked about, and a grant satisfies the question. */
export const canBeAllowed = ({ decision }: Pick<Explanation, 'decision'>): boolean => decision.effect === 'ask' && !decision.isForced

/** Words for decisions and layers of the policy, and what a replay found. */

import type { ReplayView } from '../../../src/console/api.ts'
import { counted } from './format.ts'

export const EFFECT_WORDS: Readonly<Record<string, string>> = {
  allow: 'allow',
  ask: 'ask',
  quarantine: 'hold back',
  deny: 'deny',
}

export const LAYER_WORDS: Readonly<Record<string, string>> = {
  managed: 'your organisation',
  user: 'you',
  project: 'this project',
  session: 'this run',
}

export interface ReplayRow {
  seq: number
  /** `allow → deny`, or the possible decisions. */
  change: string
  why: string
  /** The new decision lets something happen that did not happen before. */
  isLooser: boolean
}

const ORDER = ['allow', 'ask', 'quarantine', 'deny']

/** One sentence about a replay: `12 of 40 decisions would be different.` */
export function replaySummary({ counts }: ReplayView): string {
  const all = counts.same + counts.changed + counts.unknown + counts.unreadable
  if (all === 0) return 'The log has no decisions yet.'
  const parts = [`${counts.changed.toLocaleString('en')} of ${counted(all, 'decision')} would be different.`]
  if (counts.unknown > 0)
    parts.push(
      `${counted(counts.unknown, 'decision')} ${counts.unknown === 1 ? 'depends' : 'depend'} on arguments that the log does not have.`,
    )
  if (counts.unreadable > 0) parts.push(`${counted(counts.unreadable, 'record')} could not be read.`)
  return parts.join(' ')
}

export function replayRows({ decisions }: ReplayView): ReplayRow[] {
  return decisions.map((each) => {
    if (each.kind === 'unreadable') return { seq: each.seq, change: 'not readable', why: each.why, isLooser: false }
    if (each.kind === 'unknown') {
      return {
        seq: each.seq,
        change: `${word(each.before)} → ${each.possible.map(word).join(' or ')}`,
        why: `Depends on the arguments (${each.rules.join(', ')})`,
        isLooser: each.possible.some((effect) => isLooser(each.before, effect)),
      }
    }
    return {
      seq: each.seq,
      change: `${word(each.before)} → ${word(each.after)}`,
      why: each.reasons[0] ?? '',
      isLooser: isLooser(each.before, each.after),
    }
  })
}

const word = (effect: string): string => EFFECT_WORDS[effect] ?? effect

const isLooser = (before: string, after: string): boolean => ORDER.indexOf(after) < ORDER.indexOf(before)

/** What the editor shows in place of an empty policy file: no rule, and an example as a comment. */
export const FIRST_POLICY = `# Your rules. The strictest rule that matches decides. You have none yet. For example:
#
# rules:
#   - id: never-delete
#     effect: deny
#     match: { action: tool.call, tool: '*delete*' }
#     reason: I delete things myself.

rules: []
`

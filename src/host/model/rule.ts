/** One rule of a policy, as it is written in YAML, JSON or TypeScript. */

import type { ToolAnnotations } from '../../protocol/model/tools.ts'
import type { ActionKind, Effect, Initiator } from './action.ts'
import type { GrantScope } from './grant.ts'
import type { TrustTier } from './server-spec.ts'

/**
 * Conditions on arguments by JSON pointer; all must hold. `*` as a segment means any member or element. A rule that
 * allows must hold for all of them, and there must be some; any other holds as soon as one fits, and with `*` one that
 * denies or quarantines also where there is none.
 */
export type ArgumentRules = Readonly<Record<string, ArgumentTest>>

/** All that are given must hold. */
export interface ArgumentTest {
  eq?: unknown
  in?: readonly unknown[]
  /** `*` stands for anything but `/`, `**` for anything. Anchored at both ends. */
  glob?: string
  /** RE2 syntax, searched for anywhere; write `^` and `$` to anchor it. */
  re2?: string
  /** A folder, or several; compared by real path. `${root:NAME}` is a root that was granted. */
  within?: string | readonly string[]
  /** Hosts of a URL; `*.example.com` means every name below it. */
  hostIn?: readonly string[]
  /** Ranges of addresses, for an address or the literal host of a URL. */
  cidr?: readonly string[]
  /** Length of a text or a list. */
  len?: { min?: number; max?: number }
  min?: number
  max?: number
  /** JSON Schema. */
  schema?: Readonly<Record<string, unknown>>
}

export interface RuleMatch {
  /** A kind, or a pattern such as `tool.*`; several mean any of them. */
  action?: ActionKind | string | readonly string[]
  /** The name of a server, or a glob; a lone `*` means every name. */
  server?: string | readonly string[]
  /** The server's own name of a tool, prompt or resource, or a glob; a lone `*` means every name. What has none is not matched. */
  tool?: string | readonly string[]
  /** A rule that allows calls of tools does so for servers that are not trusted only where it says `untrusted` here, or hints are asserted. */
  tier?: TrustTier
  initiator?: Initiator | readonly Initiator[]
  mode?: 'interactive' | 'headless'
  /** Labels that must all be in the conversation or on the server; `private:*` means any set. */
  labels?: readonly string[]
  /** In a rule that allows it never matches: what a server claims may only tighten. */
  claimed?: ToolAnnotations
  asserted?: ToolAnnotations
}

export interface Rule {
  id: string
  effect: Effect
  match: RuleMatch
  args?: ArgumentRules
  limits?: RuleLimits
  /** What a person's yes to this question may be kept for at most. */
  grant?: { scope?: GrantScope; ttl?: string; maxUses?: number }
  /** On a layer above: lower layers may loosen what this rule says. */
  mayRelax?: boolean
  reason?: string
}

export interface RuleLimits {
  /** `30/m`, `100/h`, `1000/d`. */
  rate?: string
  concurrent?: number
  resultBytes?: number
  spendTokens?: number
}

export const POLICY_LAYERS = ['managed', 'user', 'project', 'session'] as const

export type PolicyLayer = (typeof POLICY_LAYERS)[number]

/** Rules of all layers, and what their `${root:NAME}` mean. */
export interface Policy {
  layers: Readonly<Partial<Record<PolicyLayer, readonly Rule[]>>>
  /** Real paths by name. */
  roots: Readonly<Record<string, string>>
  /** The person asked not to be asked: lifts `ask`, never `deny` or `quarantine`, and no forced question. */
  isBypassing?: boolean
}

/** Rules and policies, as written in YAML, JSON or TypeScript. */

import type { ToolAnnotations } from '../../protocol/model/tools.ts'
import type { ActionKind, Effect, Initiator } from './action.ts'
import type { GrantScope } from './grant.ts'
import type { TrustTier } from './server-spec.ts'

/**
 * Conditions on arguments by JSON pointer. All must hold. `*` as a segment means any member or element. An `allow` rule
 * applies only if there are such values and all of them match. Any other rule applies if one value matches. A rule with
 * `*` that denies or quarantines also applies if there are no such values.
 */
export type ArgumentRules = Readonly<Record<string, ArgumentTest>>

/** All given tests must hold. */
export interface ArgumentTest {
  eq?: unknown
  in?: readonly unknown[]
  /** `*` stands for anything but `/`, `**` for anything. Anchored at both ends. */
  glob?: string
  /** RE2 syntax. It matches anywhere in the text; anchor it with `^` and `$`. */
  re2?: string
  /** One or more folders, compared by real path. `${root:NAME}` is a granted root. */
  within?: string | readonly string[]
  /** Hosts of a URL. `*.example.com` matches every name below it. */
  hostIn?: readonly string[]
  /** Address ranges, for an address or a URL with a literal address as its host. */
  cidr?: readonly string[]
  /** The length of a text or a list. */
  len?: { min?: number; max?: number }
  min?: number
  max?: number
  /** JSON Schema. */
  schema?: Readonly<Record<string, unknown>>
}

export interface RuleMatch {
  /** A kind, or a pattern such as `tool.*`. One of several must match. */
  action?: ActionKind | string | readonly string[]
  /** The name of a server, or a glob. `*` alone matches every name. */
  server?: string | readonly string[]
  /** The server's own name of a tool, prompt or resource, or a glob. `*` alone matches every name. Actions without a name do not match. */
  tool?: string | readonly string[]
  /**
   * A rule that allows tool calls applies to untrusted servers only if it names the server, says `untrusted` here, or matches asserted
   * hints.
   */
  tier?: TrustTier
  initiator?: Initiator | readonly Initiator[]
  mode?: 'interactive' | 'headless'
  /** All of these must be labels of the conversation or of the server. `private:*` matches any private label. */
  labels?: readonly string[]
  /** Never matches in a rule that allows: the claims of a server can only make the decision stricter. */
  claimed?: ToolAnnotations
  asserted?: ToolAnnotations
}

/** A rule of a policy. docs/policy.md explains the members. */
export interface Rule {
  id: string
  effect: Effect
  match: RuleMatch
  args?: ArgumentRules
  limits?: RuleLimits
  /** The widest grant that the person can give. */
  grant?: { scope?: GrantScope; ttl?: string; maxUses?: number }
  /** Lower layers may loosen this rule. */
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

/**
 * How much is asked where no rule decides, from the least to the most. `trusting`: calls of trusted servers that are not destructive or
 * open-world are not asked about. `balanced`: calls of tools that the person accepted as read-only are not asked about, with conditions.
 * `cautious`: every call of a model is asked about, and so is the first offering of a server.
 */
export const PRESETS = ['trusting', 'balanced', 'cautious'] as const

/** How much a host asks: `trusting`, `balanced` or `cautious`. */
export type Preset = (typeof PRESETS)[number]

/** The rules of all layers, and the folders of their `${root:NAME}`. */
export interface Policy {
  layers: Readonly<Partial<Record<PolicyLayer, readonly Rule[]>>>
  /** The preset that each layer names. The strictest holds, and a project can only name a stricter one. Default: balanced. */
  presets?: Readonly<Partial<Record<PolicyLayer, Preset>>>
  /** Real paths by name. */
  roots: Readonly<Record<string, string>>
  /**
   * The person chose not to be asked: `ask` becomes `allow`. `deny`, `quarantine`, forced questions, and questions about new and changed
   * servers remain.
   */
  isBypassing?: boolean
}

/** Begins a reason that quotes a rule of a project. A question marks it as text of others. */
export const PROJECT_SAYS = 'A rule of this project says: '

/** The id of a rule in a sentence of the host. Others may have written it, so anything but one plain word is quoted. */
export const ruleName = (id: string): string => (/^[\w.:/-]+$/.test(id) ? id : JSON.stringify(id))

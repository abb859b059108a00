/** Everything a host may be asked to do, and everything that is known when it decides whether it may. */

import type { ToolAnnotations } from '../../protocol/model/tools.ts'
import type { PrimitiveKind } from './offering.ts'
import type { TrustTier } from './server-spec.ts'

export const ACTION_KINDS = [
  'server.launch',
  'server.connect',
  /** Take a server's tools, prompts and instructions, or what changed of them, into use. */
  'server.approve',
  'tool.call',
  /** Let a result into the conversation. */
  'tool.result',
  'resource.read',
  /** Let what was read into the conversation. */
  'resource.result',
  'resource.subscribe',
  'prompt.get',
  /** Let the messages of a prompt into the conversation. */
  'prompt.result',
  /** Send what is typed of an argument to the server, for its suggestions. */
  'argument.complete',
  'sampling.create',
  /** Give the model's answer to the server that asked for it. */
  'sampling.deliver',
  'elicit.form',
  'elicit.url',
  'roots.expose',
  'app.open',
  'app.call',
  'task.cancel',
  'task.update',
  'config.import',
] as const

export type ActionKind = (typeof ACTION_KINDS)[number]

/** From the most to the least permissive; of several that apply, the last in this order holds. */
export const EFFECTS = ['allow', 'ask', 'quarantine', 'deny'] as const

export type Effect = (typeof EFFECTS)[number]

/** Who wants it: the person, the model, an app on a page, or a server through a question of its own. */
export type Initiator = 'user' | 'model' | 'app' | 'server'

/**
 * `pinned`: as it was approved. `new`: came after the approval. `changed`: not what was approved.
 * `unseen`: nobody has approved anything of this server yet.
 */
export type PinState = 'pinned' | 'new' | 'changed' | 'unseen'

export interface Action {
  kind: ActionKind
  principal: string
  /** The conversation, or the headless run, that it belongs to. */
  run: string
  /** Counts the person's messages in a run; a grant for a turn ends with it. */
  turn: number
  mode: 'interactive' | 'headless'
  /** What the person's project is, for grants that hold in it; a folder, usually. */
  project: string
  initiator: Initiator
  /** The operator's own configuration says that this is to be done. Rules still hold; only the question is answered. */
  isConfigured?: true
  server: ActionServer
  primitive?: ActionPrimitive
  /** Hints of the server. They may raise the effect to `ask`, never lower it. */
  claimed: ToolAnnotations
  /** The same, as the operator says it. */
  asserted: ToolAnnotations
  /** What rules look into: arguments of a tool or prompt, `{ uri }`, `{ command, args, cwd, env }`, `{ url }`, `{ roots }`, and so on. */
  args: Readonly<Record<string, unknown>>
  /** Real paths of what stands at these JSON pointers in `args`, looked up before the decision, which does no I/O. */
  realPaths: Readonly<Record<string, string>>
  /** Labels that the conversation has gathered so far. */
  labels: readonly string[]
  /** When text of others first came into it, in milliseconds of the wall clock. */
  untrustedSince?: number
  usage: Usage
  /** Milliseconds of the wall clock. */
  at: number
}

export interface ActionServer {
  id: string
  /** What the server is: see fingerprint.ts. A grant holds for one fingerprint. */
  fingerprint: string
  tier: TrustTier
  /** Whether it is in the configuration at all. */
  isKnown: boolean
  /** Labels of what this server gives and takes. */
  labels: readonly string[]
}

export interface ActionPrimitive {
  kind: PrimitiveKind
  /** The server's own name or URI, not the one shown to the model. */
  name: string
  /** The digest of its definition as the server lists it now; undefined where there is no definition. */
  pin: string | undefined
  state: PinState
}

/** Counted by the host before the decision. */
export interface Usage {
  /** The same call with the same arguments, one after the other in this run, this one included. */
  identicalInARow: number
  /** Calls of this tool by this principal that have not ended. */
  concurrent: number
  /** Calls of this tool by this principal in the last minute, hour and day, this one not included. */
  lastMinute: number
  lastHour: number
  lastDay: number
  /** Tokens this server has made the model use today. */
  tokensToday: number
}

export interface Decision {
  effect: Effect
  /** In words for people, the decisive one first. */
  reasons: readonly Reason[]
  /** The grant that turned `ask` into `allow`. */
  grant?: string
  /** No grant may answer this: the person is asked each time, for this reason. */
  isForced?: boolean
  limits: ActionLimits
}

export interface Reason {
  /** The rule, grant or built-in guard. */
  id: string
  layer: 'built-in' | 'managed' | 'user' | 'project' | 'session' | 'grant'
  effect: Effect
  text: string
}

/** The tightest of all rules that matched. */
export interface ActionLimits {
  resultBytes?: number
  concurrent?: number
  perMinute?: number
  perHour?: number
  perDay?: number
  spendTokens?: number
}

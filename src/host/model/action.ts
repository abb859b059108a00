/** The actions of a host, and the decision about one of them. */

import type { ToolAnnotations } from '../../protocol/model/tools.ts'
import type { PrimitiveKind } from './offering.ts'
import type { TrustTier } from './server-spec.ts'

/** All kinds of actions that a host decides about. */
export const ACTION_KINDS = [
  'server.launch',
  'server.connect',
  /** Approve the offering of a server, or its changes. */
  'server.approve',
  'tool.call',
  /** Admit a result to the conversation. */
  'tool.result',
  'resource.read',
  /** Admit a resource to the conversation. */
  'resource.result',
  'resource.subscribe',
  'prompt.get',
  /** Admit the messages of a prompt to the conversation. */
  'prompt.result',
  /** Send a partly typed argument to the server for suggestions. */
  'argument.complete',
  'sampling.create',
  /** Send the answer of the model to the server that asked for it. */
  'sampling.deliver',
  'elicit.form',
  'elicit.url',
  'roots.expose',
  /** Show the view of a tool. */
  'app.open',
  /** Call a tool because a view asks for it. */
  'app.call',
  /** Send a message of a view to the chat, in the person's name. */
  'app.message',
  'task.cancel',
  'task.update',
  'config.import',
] as const

/** The kind of an action. */
export type ActionKind = (typeof ACTION_KINDS)[number]

/** From the most to the least permissive. Of several effects the last in this order applies. */
export const EFFECTS = ['allow', 'ask', 'quarantine', 'deny'] as const

/** What a rule or a decision says about an action. */
export type Effect = (typeof EFFECTS)[number]

/** Who wants the action: the person, the model, an app on a page, or a server with a request of its own. */
export type Initiator = 'user' | 'model' | 'app' | 'server'

/**
 * `pinned`: matches its pin. `new`: offered since the approval. `changed`: does not match its pin.
 * `unseen`: no part of this server is approved.
 */
export type PinState = 'pinned' | 'new' | 'changed' | 'unseen'

/** An action with everything that a decision depends on. */
export interface Action {
  kind: ActionKind
  principal: string
  /** The id of the conversation that the action belongs to. */
  run: string
  /** The number of the person's messages in the conversation. A grant for a turn ends with the turn. */
  turn: number
  mode: 'interactive' | 'headless'
  /** The folder of the project, for grants with that scope. */
  project: string
  initiator: Initiator
  /** The operator's configuration asks for this action. Rules still apply, but `ask` becomes `allow`. */
  isConfigured?: true
  /** The person enabled the server, and this is the part of its first offering that needs no warning. */
  isFirstOffering?: true
  server: ActionServer
  primitive?: ActionPrimitive
  /** Hints of the server. They can raise the effect to `ask` but never lower it. */
  claimed: ToolAnnotations
  /** Hints of the operator, which the host believes. */
  asserted: ToolAnnotations
  /** The values that rules test: arguments of a tool or prompt, `{ uri }`, `{ command, args, cwd, env }`, `{ url }`, `{ roots }`, and so on. */
  args: Readonly<Record<string, unknown>>
  /** Real paths of the values at these JSON pointers in `args`. The decision does no I/O, so the gate looks them up before. */
  realPaths: Readonly<Record<string, string>>
  /** The labels of the conversation. */
  labels: readonly string[]
  /** When untrusted text first came into the conversation, in milliseconds of the wall clock. */
  untrustedSince?: number
  /** The arguments repeat text from another server. Known for tools that the person accepted as read-only. */
  hasTextOfOthers?: true
  /** The arguments repeat private text of the conversation. Known for reading, prompts and suggestions. */
  hasPrivateText?: true
  usage: Usage
  /** Milliseconds of the wall clock. */
  at: number
}

export interface ActionServer {
  id: string
  /** See server-command/fingerprint.ts. A grant is for one fingerprint. */
  fingerprint: string
  tier: TrustTier
  /** Whether the configuration contains the server. */
  isKnown: boolean
  /** The configuration of a project defines the server, and chose its name. */
  isOfProject?: true
  /** Labels of the data of this server. */
  labels: readonly string[]
  /** Real paths of the folders that the server was granted as roots. Default: none. */
  roots?: readonly string[]
}

export interface ActionPrimitive {
  kind: PrimitiveKind
  /** The server's own name or URI, not the one shown to the model. */
  name: string
  /** The digest of the current definition. Undefined if there is none. */
  pin: string | undefined
  state: PinState
  /** The person believes the claim of this tool that it only reads. */
  isAcceptedReadOnly?: true
}

/** Counters at the time of the decision. */
export interface Usage {
  /** Identical calls in a row that the person did not start, since their last message, this one included. */
  identicalInARow: number
  /** Calls of this tool by this principal under way. */
  concurrent: number
  /** Calls of this tool by this principal in the last minute, hour and day, without this one. */
  lastMinute: number
  lastHour: number
  lastDay: number
  /** Tokens that models used today for this server. */
  tokensToday: number
}

/** The decision about an action. */
export interface Decision {
  effect: Effect
  /** For people; the decisive reason first. */
  reasons: readonly Reason[]
  /** The grant that turned `ask` into `allow`. */
  grant?: string
  /** The person is asked each time; no grant answers. */
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

/** The lowest limits of all matching rules. */
export interface ActionLimits {
  resultBytes?: number
  concurrent?: number
  perMinute?: number
  perHour?: number
  perDay?: number
  spendTokens?: number
}

/** What may be said about a host, every part with its default. */

import type { Keychain } from '../auth/store/options.ts'
import type { Clock } from '../base/clock.ts'
import type { ClientLimits } from '../client/limits.ts'
import type { Implementation } from '../protocol/model/base.ts'
import type { Authorizer } from '../protocol/seams/authorizer.ts'
import type { Service } from '../protocol/seams/service.ts'
import type { ProcessTargetOptions } from '../stdio/connect.ts'
import type { Review } from './approval/review.ts'
import type { EntryKind } from './catalog/catalog.ts'
import { DEFAULT_MAX_DEFINITION_TOKENS } from './catalog/offer.ts'
import type { GateLimits } from './consent/gate/gate.ts'
import type { ChatLimits } from './conversation/chat/limits.ts'
import { DEFAULT_RESULT_LIMITS } from './conversation/flow/result-gate.ts'
import type { Health } from './model/health.ts'
import type { Asker } from './model/question.ts'
import type { Policy, PolicyLayer, Rule } from './model/rule.ts'
import type { ServerSpec } from './model/server-spec.ts'
import type { Model } from './models/model.ts'
import type { BrokerLimits } from './sampling/broker.ts'
import type { BudgetLimits } from './sampling/budget.ts'
import { DEFAULT_FLEET_LIMITS } from './servers/fleet.ts'
import type { ServerLimits } from './servers/limits.ts'
import type { ServerLog } from './servers/log-gate.ts'
import type { AnchorSink } from './storage/audit/anchor.ts'
import type { AuditLogLimits } from './storage/audit/log.ts'

/** A URL, a command, a server in this process, or everything that can be said about one. */
export type GivenServer = string | URL | Pick<ProcessTargetOptions, 'command' | 'args' | 'env' | 'cwd'> | Service | Omit<ServerSpec, 'id'>

/**
 * A file that lists servers. With `isOurs` it is your own list: its `tier`, `roots`, `asserted`, `dataFiles` and
 * `${secret:NAME}` are believed. Default: only the list in the host's own folder is.
 */
export type GivenConfig = string | { file: string; isOurs?: boolean }

export interface HostOptions {
  /** Files that list servers, in the dialect of any client. */
  config?: GivenConfig | readonly GivenConfig[]
  /** Servers beside those of `config`, by name. */
  servers?: Readonly<Record<string, GivenServer>>
  /** Layer by layer a file or the rules themselves; a single file is the layer of the user. */
  policy?: string | Readonly<Partial<Record<PolicyLayer, string | readonly Rule[]>>> | Policy
  /** Who answers questions. Without anybody, whatever would have to be asked is refused. */
  ask?: Asker
  /** Of several, a server's preferences choose for sampling; chats use the first. */
  model?: Model | readonly Model[]
  /** Names that servers hint at, and which of your models are as good: `{ sonnet: ['qwen3'] }`. Parts of names on both sides. */
  equivalents?: Readonly<Record<string, readonly string[]>>
  /** Names of the models that a server may have sample for it; all of them unless given. */
  allowedModels?(server: string): readonly string[] | undefined
  /** Where approvals, permissions, secrets, tokens and the audit log are kept: a folder of the user unless given. Processes share it. */
  folder?: string
  /** Whose host it is; the user of the system unless given. */
  principal?: string
  /** What grants for a project are for; the working folder unless given. */
  project?: string
  /** A headless run has nobody in front of it; so it is when nobody is there to ask, unless given. */
  mode?: 'interactive' | 'headless'
  /** Folders that servers may be offered to work in, after the person was asked. */
  roots?: readonly string[]
  /** The person asked not to be asked: lifts questions, never refusals, quarantine or what only a person can answer. */
  isBypassing?: boolean
  /** How servers over HTTP are logged in to. The default opens a page, after the person agreed to that. */
  auth?(server: ServerSpec): Authorizer | undefined
  /** Opens a page that the person agreed to; the browser of the system unless given. */
  openUrl?(url: string): void | Promise<void>
  /** Who the host says it is. */
  info?: Implementation
  /** The key of secrets and tokens is made from it, instead of one in the keychain. */
  passphrase?: string
  keychain?: Keychain | false
  /** Where checkpoints of the audit log go as well. */
  anchor?: AnchorSink
  /** Tools whose definitions models get in any case, by their exposed names. */
  favorites?: readonly string[]
  limits?: Partial<HostLimits>
  clock?: Clock
  onEvent?(event: HostEvent): void
}

export interface HostLimits {
  server: Partial<ServerLimits>
  client: Partial<ClientLimits>
  gate: Partial<GateLimits>
  chat: Partial<ChatLimits>
  sampling: Partial<BrokerLimits>
  /** What each server may ask of the models; for all of them, or by name. */
  budget: Partial<BudgetLimits> | ((server: string) => Partial<BudgetLimits>)
  audit: Partial<AuditLogLimits>
  /** Servers in the configuration. */
  maxServers: number
  /** Bytes of a result that are let in; the rest is cut off. */
  maxResultBytes: number
  /** Tokens that definitions of tools may take of a model's attention before it gets a search over them instead. */
  maxDefinitionTokens: number
}

export const DEFAULT_HOST_LIMITS = {
  maxServers: DEFAULT_FLEET_LIMITS.maxServers,
  maxResultBytes: DEFAULT_RESULT_LIMITS.maxBytes,
  maxDefinitionTokens: DEFAULT_MAX_DEFINITION_TOKENS,
} as const satisfies Partial<HostLimits>

export type HostEvent =
  | { kind: 'health'; server: string; health: Health }
  /** Something of a server is not in use, because nobody has approved it. */
  | { kind: 'review'; review: Review }
  | { kind: 'catalog'; kinds: ReadonlySet<EntryKind> }
  | { kind: 'log'; server: string; log: ServerLog }
  | { kind: 'warning'; server?: string; text: string }

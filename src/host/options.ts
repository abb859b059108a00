/** The options of a host and of its methods. */

import type { AppLimits } from '../apps/bridge/limits.ts'
import type { Keychain } from '../auth/store/options.ts'
import type { Clock } from '../base/clock.ts'
import type { ClientLimits } from '../client/limits.ts'
import type { Members } from '../protocol/check-members.ts'
import type { Authorizer } from '../protocol/interfaces/authorizer.ts'
import type { HostTelemetry } from '../protocol/interfaces/telemetry.ts'
import type { Implementation } from '../protocol/model/base.ts'
import type { UseOptions } from './actions/action-request.ts'
import type { ShownApp } from './actions/open-app.ts'
import { DEFAULT_MAX_DEFINITION_TOKENS } from './catalog/offer.ts'
import type { GivenServer } from './config/inline-servers.ts'
import type { GateLimits } from './consent/gate/gate.ts'
import type { Conversation } from './conversation/chat/conversation.ts'
import type { ChatLimits } from './conversation/chat/limits.ts'
import { DEFAULT_RESULT_LIMITS } from './conversation/flow/cap-result.ts'
import type { Model } from './language-models/language-model.ts'
import type { HostEvent } from './model/event.ts'
import type { Asker } from './model/question.ts'
import type { Preset } from './model/rule.ts'
import type { ServerSpec } from './model/server-spec.ts'
import type { HostTraffic } from './model/traffic.ts'
import type { GivenPolicy } from './policy/load-policy.ts'
import type { BrokerLimits } from './sampling/broker.ts'
import type { BudgetLimits } from './sampling/budget.ts'
import type { SupervisionLimits } from './servers/limits.ts'
import type { AnchorSink } from './storage/audit/anchor.ts'
import type { AuditRetention } from './storage/audit/retention.ts'

/**
 * A file that lists servers. With `isOurs` it is your own list: the host believes its `tier`, `roots`, `asserted`, `dataFiles`
 * and `${secret:NAME}`. Default: only the list in the host's own folder is believed.
 */
export type GivenConfig = string | { file: string; isOurs?: boolean }

/** Options for `createHost`. */
export interface HostOptions {
  /** Files that list servers, in the format of any client. */
  config?: GivenConfig | readonly GivenConfig[]
  /** Servers in addition to those of `config`, by name. */
  servers?: Readonly<Record<string, GivenServer>>
  /** A file or the rules of each layer. A single file is the user's layer. Default: no rules. */
  policy?: GivenPolicy
  /**
   * How much is asked where no rule decides: `cautious`, `balanced` or `trusting`. A policy file can name a stricter one. Default:
   * balanced.
   */
  preset?: Preset
  /** Asks the person. Default: no one is asked, and actions that need an answer are refused. */
  ask?: Asker
  /**
   * Models, or names of models that the person stored. Other stored models follow. Chats use the first. For sampling the preferences of
   * the server choose among all.
   */
  model?: Model | string | readonly (Model | string)[]
  /** The model while no other is given or stored. Default: none. */
  fallbackModel?: Model
  /** Models to use for names that servers hint at: `{ sonnet: ['qwen3'] }`. Both sides can be parts of names. */
  equivalents?: Readonly<Record<string, readonly string[]>>
  /** Names of the models that a server may sample from. Default: all. */
  allowedModels?(server: string): readonly string[] | undefined
  /** Folder for approvals, grants, secrets, tokens and the audit log. Host processes can share it. Default: a folder in the user's home. */
  folder?: string
  /** The name of the person. Default: the user of the operating system. */
  principal?: string
  /** The folder that grants for a project belong to. Default: the working folder. */
  project?: string
  /** Whether a person is present. Default: `interactive` with `ask`, else `headless`. */
  mode?: 'interactive' | 'headless'
  /** The person has other servers that this host does not know. Their tasks are left to other hosts. Default: false. */
  hasOtherServers?: boolean
  /** Folders that the host offers to servers as roots, after the person agreed. */
  roots?: readonly string[]
  /** The person chose not to be asked: `ask` becomes `allow`. Denials, quarantine and questions that only a person can answer remain. */
  isBypassing?: boolean
  /** The authorization for a server over HTTP. Default: OAuth with a login page, after the person agreed to open it. */
  auth?(server: ServerSpec): Authorizer | undefined
  /** Opens a page that the person agreed to: a login, or a page of the server. Default: the browser of the system. */
  openUrl?(url: string, purpose: 'login' | 'page'): void | Promise<void>
  /** The name and version that the host gives to servers. */
  info?: Implementation
  /** Derives the key for secrets and tokens. Default: a key from the keychain or, without a keychain, from a file. */
  passphrase?: string
  /** A keychain in place of the system's; `false` for none. */
  keychain?: Keychain | false
  /** A second place for the checkpoints of the audit log. */
  anchor?: AnchorSink
  /** How long the audit log is kept, and where old parts go. Default: everything is kept. */
  auditRetention?: AuditRetention
  /** Exposed names of tools whose definitions models always get. */
  favorites?: readonly string[]
  /** Traces and metrics: `hostTelemetry()` of portico/opentelemetry. */
  telemetry?: HostTelemetry
  /** Limits that differ from the defaults in docs/limits.md. */
  limits?: Partial<HostLimits>
  /** The clock for timeouts and expiry. Default: the system clock. */
  clock?: Clock
  /** Called for changes of servers and of the catalog, for reviews, logs and warnings. */
  onEvent?(event: HostEvent): void
  /** Called with every message of every connection, for people who look. Default: messages are not reported. */
  onTraffic?(traffic: HostTraffic): void
}

/** Options for actions of a model or of the person. */
export interface HostCallOptions extends Pick<UseOptions, 'signal' | 'onProgress' | 'timeoutMs' | 'maxTotalMs'> {
  /**
   * Who wants the action. The policy decides by it, and the audit log records it. Say `'person'` only for what the person typed or
   * clicked: then most calls need no question. Default: 'model'.
   */
  as?: 'model' | 'person'
  /** The conversation that the action belongs to. Default: one that the host keeps for all actions without a conversation. */
  conversation?: Conversation
}

/** Options for `host.explain`. */
export type ExplainOptions = Pick<HostCallOptions, 'as' | 'conversation'>

/** Options for `host.openApp`. */
export interface OpenAppOptions extends ShownApp, Pick<HostCallOptions, 'as' | 'conversation' | 'signal'> {}

/** Options for `host.modelTools`. */
export interface ModelToolsOptions {
  /** The conversation that the calls belong to. Use one for everything that the model can see together. */
  conversation: Conversation
  /** The name of the model, for questions to the person. Default: none. */
  model?: string
}

/** Options for `host.chat`. */
export interface ChatOptions {
  /** The conversation to continue. Default: a new one. */
  conversation?: Conversation
  /** Instructions for the model. Default: none. */
  system?: string
  /** Default: the first model of the host. */
  model?: Model
  /**
   * The ids of the texts of views (`conversation.contexts`) that go along with the message: those that the person has seen. The others
   * wait for the next one. Default: all.
   */
  contexts?: readonly string[]
  /** Stops the model and its calls. */
  signal?: AbortSignal
}

/** The limits of a host. docs/limits.md lists all of them. */
export interface HostLimits {
  /** Limits of each connection: start, restarts, lists. */
  server: Partial<SupervisionLimits>
  /** Limits of the client of each server. */
  client: Partial<ClientLimits>
  /** Limits of questions and actions. */
  gate: Partial<GateLimits>
  /** Limits of chats: steps, tokens, messages. */
  chat: Partial<ChatLimits>
  /** Limits of the views of tools. */
  apps: Partial<AppLimits>
  /** Limits of sampling requests. */
  sampling: Partial<BrokerLimits>
  /** Sampling budget of each server: the same for all, or by name. */
  budget: Partial<BudgetLimits> | ((server: string) => Partial<BudgetLimits>)
  /** Bytes of one result. The rest is cut off. */
  maxResultBytes: number
  /** Tokens for the definitions of tools in a request to a model. With more, the model gets a search over the tools. */
  maxDefinitionTokens: number
}

/** The options that the methods of a host use. */
export interface HostSettings {
  limits: Pick<HostLimits, 'maxDefinitionTokens'> & Partial<Pick<HostLimits, 'chat' | 'client' | 'gate' | 'apps'>>
  /** The name and version that views see. */
  info: Implementation
  /** Opens a page that the person agreed to. */
  openUrl(url: string, purpose: 'page'): void | Promise<void>
  /** Exposed names of tools whose definitions models always get. */
  favorites: readonly string[]
}

export const DEFAULT_HOST_LIMITS = {
  maxResultBytes: DEFAULT_RESULT_LIMITS.maxBytes,
  maxDefinitionTokens: DEFAULT_MAX_DEFINITION_TOKENS,
} as const satisfies Partial<HostLimits>

/** The names of all options of `createHost`. */
export const HOST_MEMBERS: Members<HostOptions> = {
  config: 1,
  servers: 1,
  policy: 1,
  preset: 1,
  ask: 1,
  model: 1,
  fallbackModel: 1,
  equivalents: 1,
  allowedModels: 1,
  folder: 1,
  principal: 1,
  project: 1,
  mode: 1,
  hasOtherServers: 1,
  roots: 1,
  isBypassing: 1,
  auth: 1,
  openUrl: 1,
  info: 1,
  passphrase: 1,
  keychain: 1,
  anchor: 1,
  auditRetention: 1,
  favorites: 1,
  telemetry: 1,
  limits: 1,
  clock: 1,
  onEvent: 1,
  onTraffic: 1,
}

export const HOST_LIMIT_MEMBERS: Members<HostLimits> = {
  server: 1,
  client: 1,
  gate: 1,
  chat: 1,
  apps: 1,
  sampling: 1,
  budget: 1,
  maxResultBytes: 1,
  maxDefinitionTokens: 1,
}

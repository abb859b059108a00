/** The routes and events of the console's API, for the server and for pages. docs/console-api.md describes them. */

import type { CompleteParams, Completion, Prompt, Resource, ResourceTemplate, Tool } from '../client/index.ts'
import type { AuditRecord, AuditVerdict, ConversationRecord, Effect, Explanation, Grant } from '../host/index.ts'
import type {
  AuditPage,
  ChatPartView,
  ConversationView,
  DemoView,
  EntryView,
  FoundToolView,
  GivenAnswer,
  HealthView,
  ImportableServer,
  LintFinding,
  LogEntry,
  NameOf,
  NewServer,
  OperationView,
  PolicyView,
  QuestionEnd,
  QuestionView,
  ReplayView,
  RootView,
  ServerDetails,
  ServerView,
  SettingsView,
  Started,
  SubscriptionView,
} from './api-views.ts'

export type * from './api-views.ts'

/** Every route: its parameters, its body, and the answer to a success. */
export interface ConsoleApi {
  'POST /api/session': { body: { code: string }; result: { token: string; expiresInMs: number } }
  'DELETE /api/session': { result: null }
  'POST /api/session/codes': { result: { code: string; expiresInMs: number } }
  'GET /api/settings': { result: SettingsView }

  'GET /api/servers': { result: { servers: readonly ServerView[] } }
  'POST /api/servers': { body: NewServer; result: { server: ServerView; movedSecrets: readonly string[] } }
  'GET /api/servers/:id': { params: 'id'; result: { server: ServerDetails } }
  'DELETE /api/servers/:id': { params: 'id'; result: null }
  'POST /api/servers/:id/enable': { params: 'id'; result: Started }
  'POST /api/servers/:id/disable': { params: 'id'; result: { server: ServerView } }
  'POST /api/servers/:id/restart': { params: 'id'; result: Started }
  'POST /api/servers/:id/approve': { params: 'id'; result: Started }
  'POST /api/servers/:id/login': { params: 'id'; result: Started }
  'POST /api/servers/:id/logout': { params: 'id'; result: Started }
  'GET /api/servers/:id/log': { params: 'id'; query: { after?: number; limit?: number }; result: { entries: readonly LogEntry[] } }
  'GET /api/servers/:id/roots': { params: 'id'; result: { roots: readonly RootView[] } }
  'POST /api/servers/:id/roots': { params: 'id'; body: { folder: string }; result: Started }
  'DELETE /api/servers/:id/roots': { params: 'id'; query: { uri: string }; result: null }

  'GET /api/import': {
    result: { servers: readonly ImportableServer[]; problems: readonly { file: string; where: string; text: string }[] }
  }
  'POST /api/import': {
    body: { ids: readonly string[]; moveSecrets?: boolean }
    result: { added: readonly string[]; updated: readonly string[] }
  }

  'GET /api/tools': { query: { server?: string }; result: { tools: readonly EntryView<Tool>[] } }
  'GET /api/prompts': { query: { server?: string }; result: { prompts: readonly EntryView<Prompt>[] } }
  'GET /api/resources': { query: { server?: string }; result: { resources: readonly EntryView<Resource>[] } }
  'GET /api/templates': { query: { server?: string }; result: { templates: readonly EntryView<ResourceTemplate>[] } }
  'GET /api/search': { query: { q: string; limit?: number }; result: { tools: readonly FoundToolView[] } }

  'POST /api/tools/call': {
    body: { tool: NameOf; args?: Record<string, unknown>; id?: string; conversation?: string; timeoutMs?: number }
    result: Started
  }
  'POST /api/resources/read': { body: { uri: string; id?: string; conversation?: string }; result: Started }
  'POST /api/prompts/get': {
    body: { prompt: NameOf; args?: Record<string, string>; id?: string; conversation?: string }
    result: Started
  }
  'POST /api/complete': { body: { server: string } & CompleteParams; result: { completion: Completion } }
  'GET /api/subscriptions': { result: { subscriptions: readonly SubscriptionView[] } }
  'POST /api/subscriptions': { body: { uri: string; id?: string }; result: Started }
  'DELETE /api/subscriptions/:id': { params: 'id'; result: null }
  'GET /api/operations': { result: { operations: readonly OperationView[] } }
  'GET /api/operations/:id': { params: 'id'; result: { operation: OperationView } }
  'DELETE /api/operations/:id': { params: 'id'; result: null }

  'GET /api/questions': { result: { questions: readonly QuestionView[] } }
  'GET /api/questions/:id': { params: 'id'; result: QuestionView }
  'POST /api/questions/:id/answer': { params: 'id'; body: GivenAnswer; result: null }

  'GET /api/grants': { result: { grants: readonly Grant[] } }
  'DELETE /api/grants': { query: { server: string }; result: { revoked: number } }
  'DELETE /api/grants/:id': { params: 'id'; result: { revoked: number } }

  'GET /api/policy': { result: PolicyView }
  'POST /api/policy/lint': { body: { draft?: string }; result: { findings: readonly LintFinding[] } }
  'POST /api/policy/explain': { body: { tool: NameOf; args?: Record<string, unknown>; as?: 'person' | 'model' }; result: Explanation }
  'POST /api/policy/replay': { body: { draft?: string }; result: ReplayView }

  'GET /api/audit': {
    query: { before?: number; limit?: number; server?: string; action?: string; effect?: Effect; kind?: AuditRecord['kind'] }
    result: AuditPage
  }
  'POST /api/audit/verify': { result: AuditVerdict }

  'POST /api/chat': {
    body: { message: string; conversation?: string; model?: string; system?: string; id?: string }
    result: Started & { conversation: string }
  }
  'GET /api/conversations': { result: { conversations: readonly ConversationView[] } }
  'GET /api/conversations/:id': { params: 'id'; result: { conversation: ConversationView; messages: ConversationRecord['messages'] } }
  'DELETE /api/conversations/:id': { params: 'id'; result: null }

  'GET /api/secrets': { result: { names: readonly string[] } }

  'GET /api/demo': { result: { demo: DemoView | null } }
  'POST /api/demo/rogue': { result: { server: ServerView } }
  'POST /api/demo/damaged-audit': { result: AuditVerdict }
}

/** The name of a route: its method and its path. */
export type RouteName = keyof ConsoleApi

type Member<Row, Name extends string, None> = Row extends Record<Name, infer Value> ? Value : None

/** The members of a route's path that begin with a colon. */
export type ParamsOf<Name extends RouteName> = Record<Member<ConsoleApi[Name], 'params', never> & string, string>

/** The query of a route. */
export type QueryOf<Name extends RouteName> = Member<ConsoleApi[Name], 'query', Record<never, never>>

/** The body of a request to a route. */
export type BodyOf<Name extends RouteName> = Member<ConsoleApi[Name], 'body', Record<never, never>>

/** The answer of a route to a success. */
export type ResultOf<Name extends RouteName> = ConsoleApi[Name]['result']

/** The events of `GET /api/events`, by name. A large one has `omittedBytes` in place of its details: fetch the state. */
export interface ConsoleEvents {
  /** The first event of a stream. `isComplete`: no event was missed since the given id. If false, fetch the whole state. */
  hello: { isComplete: boolean }
  /** Servers were added, removed, enabled or disabled. */
  servers: { ids: readonly string[] }
  health: { server: string; health: HealthView }
  /** Definitions of a server wait for approval. */
  review: { server: string; items: number; isFirst: boolean }
  /** Lists changed: tools, prompts, resources or templates. */
  catalog: { kinds: readonly string[] }
  log: { server: string; entry: LogEntry }
  warning: { server?: string; text: string }
  /** A new question. Fetch `GET /api/questions/:id`. */
  question: { id: string; action: string; server: string; title: string }
  'question-end': QuestionEnd
  operation: OperationView
  /** A part of a chat. */
  chat: { operation: string; conversation: string; part: ChatPartView }
  /** A subscribed resource changed. */
  resource: SubscriptionView
  grants: { revoked: number }
  /** An event of the host that this page describes no further. */
  host: { kind: string }
}

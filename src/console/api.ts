/** The routes and events of the console's API, for the server and for pages. docs/console-api.md describes them. */

import type { CompleteParams, Completion, LogLevel, Prompt, Resource, ResourceTemplate } from '../client/index.ts'
import type { AuditRecord, AuditVerdict, HostEvent } from '../host/index.ts'
import type { Effect, Explanation, Preset } from '../host/policy-tools/index.ts'
import type { AppEvent, AppMessage, AppView, NewApp } from './api-apps.ts'
import type {
  ChatPartView,
  ConversationDetails,
  ConversationView,
  ModelProviderView,
  ModelTurnAnswer,
  ModelTurnView,
  NewModel,
  StoredModelView,
} from './api-chat.ts'
import type { AuditDetails, AuditExport, AuditPage, GrantView, LintFinding, PolicyView, RecentCall, ReplayView } from './api-policy.ts'
import type {
  ChangedSettings,
  ConfigProblemView,
  DoctorFinding,
  HealthView,
  ImportableServer,
  LogEntry,
  NewServer,
  PastedServer,
  ReadOnlyToolView,
  RootView,
  ServerDetails,
  ServerView,
} from './api-servers.ts'
import type { TaskDetails, TaskView } from './api-tasks.ts'
import type {
  MessageDetails,
  MessageView,
  RecordedMessage,
  RecordingComparison,
  RecordingView,
  TestView,
  TimelineFilter,
  TimelinePage,
} from './api-timeline.ts'
import type {
  BrokenAudit,
  CheckedArguments,
  EntryView,
  FoundView,
  GivenAnswer,
  NameOf,
  NewSavedCall,
  OperationView,
  QuestionEnd,
  QuestionView,
  SavedCall,
  SecretView,
  SettingsView,
  SkillView,
  Started,
  SubscriptionView,
  ToolView,
  TourView,
} from './api-views.ts'

export type * from './api-apps.ts'
export type * from './api-chat.ts'
export type * from './api-errors.ts'
export type * from './api-policy.ts'
export type * from './api-servers.ts'
export type * from './api-tasks.ts'
export type * from './api-timeline.ts'
export type * from './api-views.ts'

/** Routes for sessions, settings and secrets. */
interface SessionRoutes {
  'POST /api/session': { body: { code: string }; result: { token: string; expiresInMs: number } }
  'DELETE /api/session': { result: null }
  'POST /api/session/codes': { result: { code: string; expiresInMs: number } }
  'GET /api/settings': { result: SettingsView }
  'GET /api/preferences': { result: { preferences: Readonly<Record<string, unknown>> } }
  'PUT /api/preferences': { body: { preferences: Readonly<Record<string, unknown>> }; result: null }
  'GET /api/secrets': { result: { secrets: readonly SecretView[] } }
  'PUT /api/secrets/:name': { params: 'name'; body: { value: string }; result: null }
  'DELETE /api/secrets/:name': { params: 'name'; result: null }
  'GET /api/tour': { result: TourView }
  'POST /api/tour/rogue': { result: TourView }
  'POST /api/tour/rogue/turn': { result: TourView }
  'DELETE /api/tour/rogue': { result: TourView }
}

/** Routes for servers. */
interface ServerRoutes {
  'GET /api/servers': { result: { servers: readonly ServerView[] } }
  'POST /api/servers': { body: NewServer; result: { server: ServerView; movedSecrets: readonly string[] } }
  'POST /api/servers/parse': {
    body: { text: string }
    result: { servers: readonly PastedServer[]; problems: readonly ConfigProblemView[] }
  }
  'POST /api/servers/paste': {
    body: { text: string; ids?: readonly string[]; moveSecrets?: boolean }
    result: { added: readonly string[]; problems: readonly ConfigProblemView[] }
  }
  'POST /api/servers/enable': { body: { ids: readonly string[]; id?: string }; result: Started }
  'GET /api/servers/:id': { params: 'id'; result: { server: ServerDetails } }
  'PATCH /api/servers/:id': { params: 'id'; body: ChangedSettings; result: { server: ServerDetails; movedSecrets: readonly string[] } }
  /** On: the server starts and its changed offering is enabled without a question, by a rule of the user. */
  'PUT /api/servers/:id/writing': { params: 'id'; body: { isOn: boolean }; result: { server: ServerDetails } }
  'DELETE /api/servers/:id': { params: 'id'; result: null }
  'POST /api/servers/:id/enable': { params: 'id'; body: { choose?: boolean }; result: Started }
  'POST /api/servers/:id/disable': { params: 'id'; result: { server: ServerView } }
  /** `method`: the request that was sent. Revisions without `ping` have another. */
  'POST /api/servers/:id/ping': { params: 'id'; result: { ms: number; method: string } }
  'PUT /api/servers/:id/log-level': { params: 'id'; body: { level: LogLevel }; result: { server: ServerDetails } }
  'POST /api/servers/:id/restart': { params: 'id'; result: Started }
  'POST /api/servers/:id/approve': { params: 'id'; result: Started }
  'POST /api/servers/:id/login': { params: 'id'; result: Started }
  'POST /api/servers/:id/logout': { params: 'id'; result: Started }
  'POST /api/servers/:id/doctor': { params: 'id'; result: Started }
  'GET /api/servers/:id/read-only': { params: 'id'; result: { tools: readonly ReadOnlyToolView[] } }
  'POST /api/servers/:id/read-only': {
    params: 'id'
    body: { tools: readonly string[]; isRevoked?: boolean }
    result: { tools: readonly ReadOnlyToolView[] }
  }
  'GET /api/servers/:id/log': { params: 'id'; query: { after?: number; limit?: number }; result: { entries: readonly LogEntry[] } }
  'GET /api/servers/:id/roots': { params: 'id'; result: { roots: readonly RootView[] } }
  'POST /api/servers/:id/roots': { params: 'id'; body: { folder: string }; result: Started }
  'DELETE /api/servers/:id/roots': { params: 'id'; query: { uri: string }; result: null }

  'GET /api/import': { result: { servers: readonly ImportableServer[]; problems: readonly ConfigProblemView[] } }
  'POST /api/import': {
    body: { ids: readonly string[]; moveSecrets?: boolean }
    result: { added: readonly string[]; updated: readonly string[] }
  }
}

/** Routes that list and use what servers offer. */
interface UseRoutes {
  'GET /api/tools': { query: { server?: string }; result: { tools: readonly ToolView[] } }
  'GET /api/prompts': { query: { server?: string }; result: { prompts: readonly EntryView<Prompt>[] } }
  'GET /api/resources': { query: { server?: string }; result: { resources: readonly EntryView<Resource>[] } }
  'GET /api/templates': { query: { server?: string }; result: { templates: readonly EntryView<ResourceTemplate>[] } }
  'GET /api/search': { query: { q: string; limit?: number }; result: { found: readonly FoundView[] } }

  'POST /api/tools/call': {
    body: { tool: NameOf; args?: Record<string, unknown>; id?: string; conversation?: string; timeoutMs?: number }
    result: Started
  }
  'POST /api/tools/check': { body: { tool: NameOf; args: Record<string, unknown> }; result: CheckedArguments }
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
  'GET /api/calls/recent': { query: { limit?: number; server?: string }; result: { calls: readonly RecentCall[] } }
  'GET /api/calls/saved': { result: { calls: readonly SavedCall[] } }
  'POST /api/calls/saved': { body: NewSavedCall; result: { call: SavedCall } }
  'PUT /api/calls/saved/:id': { params: 'id'; body: NewSavedCall; result: { call: SavedCall } }
  'DELETE /api/calls/saved/:id': { params: 'id'; result: null }
}

/** Routes for the views of tools. */
interface AppRoutes {
  'GET /api/skills': { query: { server?: string }; result: { skills: readonly SkillView[] } }
  /** Reads a file of a skill for the person, also before its approval. Default: SKILL.md. */
  'POST /api/skills/read': { body: { server: string; uri: string; path?: string }; result: Started }
  /** Asks about this skill only. */
  'POST /api/skills/approve': { body: { server: string; uri: string }; result: Started }
  'POST /api/skills/revoke': { body: { server: string; uri: string }; result: null }
  'POST /api/apps': { body: NewApp; result: { app: AppView } }
  /** Messages of the view. */
  'POST /api/apps/:id/messages': { params: 'id'; body: { messages: readonly Record<string, unknown>[] }; result: null }
  /** Messages to the view that are newer than `after`. */
  'GET /api/apps/:id/messages': { params: 'id'; query: { after?: number }; result: { messages: readonly AppMessage[] } }
  'PATCH /api/apps/:id': { params: 'id'; body: { theme: 'light' | 'dark' }; result: null }
  /** Lets the view finish, and removes it. */
  'DELETE /api/apps/:id': { params: 'id'; result: null }
}

/** Routes for tasks. */
interface TaskRoutes {
  /** The newest first. */
  'GET /api/tasks': { result: { tasks: readonly TaskView[] } }
  'GET /api/tasks/:id': { params: 'id'; result: { task: TaskDetails } }
  /** Calls a tool as a task. The operation ends when the task has begun; its result is the id of the task. */
  'POST /api/tasks': { body: { tool: NameOf; args?: Record<string, unknown>; id?: string }; result: Started }
  /** Cancels a task. */
  'DELETE /api/tasks/:id': { params: 'id'; result: { task: TaskView } }
}

/** Routes for questions, grants, the policy and the audit log. */
interface ConsentRoutes {
  'GET /api/questions': { result: { questions: readonly QuestionView[] } }
  'GET /api/questions/:id': { params: 'id'; result: QuestionView }
  'POST /api/questions/:id/answer': { params: 'id'; body: GivenAnswer; result: null }

  'GET /api/grants': { result: { grants: readonly GrantView[] } }
  /** Allows models to call a tool for good. `width`: with exactly these arguments, or with any. */
  'POST /api/grants': { body: { tool: NameOf; args?: Record<string, unknown>; width?: 'exact' | 'any' }; result: { grant: GrantView } }
  'DELETE /api/grants': { query: { server: string }; result: { revoked: number } }
  'DELETE /api/grants/:id': { params: 'id'; result: { revoked: number } }

  'GET /api/policy': { result: PolicyView }
  'PUT /api/policy': { body: { text: string; hash?: string }; result: PolicyView }
  'POST /api/policy/preset': { body: { preset: Preset }; result: PolicyView }
  'POST /api/policy/lint': { body: { draft?: string }; result: { findings: readonly LintFinding[] } }
  'POST /api/policy/explain': { body: { tool: NameOf; args?: Record<string, unknown>; as?: 'person' | 'model' }; result: Explanation }
  'POST /api/policy/replay': { body: { draft?: string }; result: ReplayView }
  /** How many actions of the log each rule in use matches, by id. */
  'GET /api/policy/hits': { result: { hits: Readonly<Record<string, number>> } }

  'GET /api/audit': {
    query: {
      before?: number
      limit?: number
      server?: string
      action?: string
      effect?: Effect
      kind?: AuditRecord['kind']
      run?: string
      q?: string
    }
    result: AuditPage
  }
  'GET /api/audit/export': { query: { after?: number }; result: AuditExport }
  'GET /api/audit/:seq': { params: 'seq'; result: AuditDetails }
  'POST /api/audit/verify': { result: AuditVerdict }
  'POST /api/audit/break-copy': { result: BrokenAudit }
}

/** Routes for chats and their models. */
interface ChatRoutes {
  'GET /api/models': { result: { models: readonly StoredModelView[]; providers: readonly ModelProviderView[] } }
  'POST /api/models': { body: NewModel; result: { model: StoredModelView } }
  'DELETE /api/models/:id': { params: 'id'; result: null }
  /** Sends it one short message. */
  'POST /api/models/:id/test': { params: 'id'; result: Started }
  'POST /api/chat': {
    body: { message: string; conversation?: string; model?: string; system?: string; contexts?: readonly string[]; id?: string }
    result: Started & { conversation: string }
  }
  'GET /api/conversations': { result: { conversations: readonly ConversationView[] } }
  'GET /api/conversations/:id': { params: 'id'; result: ConversationDetails }
  'DELETE /api/conversations/:id': { params: 'id'; result: null }
  /** Takes the text of a view back before it is sent. */
  'DELETE /api/conversations/:id/contexts/:context': { params: 'id' | 'context'; result: null }
  'GET /api/model-turns': { result: { turns: readonly ModelTurnView[] } }
  'POST /api/model-turns/:id/answer': { params: 'id'; body: ModelTurnAnswer; result: null }
}

/** Routes for the timeline and for recordings. */
interface TimelineRoutes {
  'GET /api/timeline': {
    query: TimelineFilter
    result: TimelinePage
  }
  'GET /api/timeline/:seq': { params: 'seq'; result: { message: MessageDetails } }
  'DELETE /api/timeline': { result: null }
  /** `message`: the `seq` of the request. `operation`: the call that an operation made. One of them. */
  'POST /api/timeline/test': { body: { message?: number; operation?: string }; result: TestView }
  'POST /api/timeline/transcript': { body: { server: string; from?: number; to?: number }; result: { text: string; messages: number } }

  /** `state`: only those that run now. */
  'GET /api/recordings': { query: { state?: 'recording' }; result: { recordings: readonly RecordingView[] } }
  'POST /api/recordings': { body: { servers?: readonly string[]; title?: string }; result: { recordings: readonly RecordingView[] } }
  'POST /api/recordings/open': { body: { text: string; title?: string }; result: { recording: RecordingView } }
  'POST /api/recordings/compare': { body: { before: string; after: string }; result: RecordingComparison }
  'GET /api/recordings/:id': {
    params: 'id'
    query: { after?: number; limit?: number }
    result: { recording: RecordingView; messages: readonly RecordedMessage[]; next?: number }
  }
  'GET /api/recordings/:id/text': { params: 'id'; result: { text: string } }
  'POST /api/recordings/:id/stop': { params: 'id'; result: { recording: RecordingView } }
  'POST /api/recordings/:id/replay': { params: 'id'; body: { server: string; calls?: boolean; id?: string }; result: Started }
  'DELETE /api/recordings/:id': { params: 'id'; result: null }
}

/** Every route: its parameters, its body, and the answer to a success. */
export interface ConsoleApi
  extends SessionRoutes,
    ServerRoutes,
    UseRoutes,
    AppRoutes,
    TaskRoutes,
    ConsentRoutes,
    ChatRoutes,
    TimelineRoutes {}

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
  /** The first offering of a server is in use. */
  enabled: Omit<Extract<HostEvent, { kind: 'enabled' }>, 'kind'>
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
  /** A request to the person in place of a model waits, or no longer does. */
  'model-turn': { id: string; isWaiting: boolean; operation?: string; conversation?: string }
  /** Something happened to the view of a tool. */
  app: AppEvent
  /** A task began, changed or ended. Fetch `GET /api/tasks/:id`. */
  task: Omit<Extract<HostEvent, { kind: 'task' }>, 'kind'>
  /** A subscribed resource changed. */
  resource: SubscriptionView
  /** A step of a checkup is done. */
  doctor: { operation: string; server: string; finding: DoctorFinding }
  /** New messages, at most every 50 ms. If they are many, only the newest: `forgotten` says how many to fetch. */
  messages: { messages: readonly MessageView[]; forgotten?: number }
  /** A recording was started, stopped, stored or removed. */
  recordings: { ids: readonly string[] }
  /** Models were stored or removed in the console. */
  models: { ids: readonly string[] }
  /** The policy was changed in the console. */
  policy: { preset: Preset }
  /** Grants were revoked, or with 0 one was added. */
  grants: { revoked: number }
  /** An event of the host that this page describes no further. */
  host: { kind: string }
}

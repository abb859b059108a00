/** The values in requests, answers and events of the console's API. */

import type { CallToolResult, ErrorCode, GetPromptResult, Progress, ReadResourceResult, Tool } from '../client/index.ts'
import type {
  Answer,
  AnswerChoice,
  AuditRecord,
  ChatPart,
  ConfigProvenance,
  lintPolicy,
  Policy,
  Question,
  QuestionLine,
  QuestionSummary,
  Replayed,
  Review,
  ServerLog,
  TrustTier,
} from '../host/index.ts'

/** The codes of errors: those of the host, and those of the console itself. */
export type ApiErrorCode =
  | ErrorCode
  /** The one-time code is wrong, used or expired (401). */
  | 'ERR_CODE'
  /** The cookie or the token of a session is missing or wrong (401). */
  | 'ERR_SESSION'
  /** The header Host is not the console's (403). */
  | 'ERR_HOST'
  /** Another page caused the request (403). */
  | 'ERR_ORIGIN'
  /** There is no such route (404). */
  | 'ERR_ROUTE'
  /** There is no such thing (404). */
  | 'ERR_NOT_FOUND'
  /** The route has other methods (405). */
  | 'ERR_METHOD'
  /** Something else happened first (409). */
  | 'ERR_CONFLICT'
  /** The body is too large (413). */
  | 'ERR_TOO_LARGE'
  /** The body is not JSON (415). */
  | 'ERR_MEDIA_TYPE'
  /** A server answered with an error (502). */
  | 'ERR_REMOTE'

/** The body of every answer that is not a success. */
export interface ApiErrorBody {
  error: {
    code: ApiErrorCode
    message: string
    data?: unknown
    /** All routes, after ERR_ROUTE. */
    routes?: readonly string[]
  }
}

/** How a server is reached. Values that look like secrets are replaced by their length. */
export type TransportView =
  | { type: 'stdio'; command: string; args: readonly string[]; env: Readonly<Record<string, string>>; cwd?: string }
  | { type: 'http'; url: string; headerNames: readonly string[] }
  | { type: 'memory' }

/** The state of a server. */
export interface HealthView {
  /** The `state` of `Health` in portico/host. */
  state: string
  /** Why it is not ready. */
  error?: { code?: string; message: string }
  /** When it is tried again. */
  retryInMs?: number
  /** Unanswered pings in a row. */
  missedPings?: number
}

/** A server in the list. */
export interface ServerView {
  id: string
  title?: string
  transport: TransportView
  tier: TrustTier
  isEnabled: boolean
  /** The files that it was read from. */
  from: readonly ConfigProvenance[]
  labels: readonly string[]
  health: HealthView
  counts: { tools: number; prompts: number; resources: number; templates: number }
  /** How many of its definitions wait for approval. */
  waiting: number
}

/** A server with everything that its page shows. */
export interface ServerDetails extends ServerView {
  review?: Review
  roots: readonly RootView[]
  /** The rest of its sampling budget. */
  budget: { tokensLeft: number; requestsLeft: number }
}

/** A folder that a server may work in. */
export interface RootView {
  uri: string
  name?: string
}

/** A new server: either a command or a URL. */
export interface NewServer {
  id: string
  title?: string
  tier?: TrustTier
  labels?: readonly string[]
  command?: string
  args?: readonly string[]
  env?: Readonly<Record<string, string>>
  cwd?: string
  url?: string
  headers?: Readonly<Record<string, string>>
}

/** A server that another client on this computer has configured. */
export interface ImportableServer {
  id: string
  transport: TransportView
  from: readonly ConfigProvenance[]
  /** Why to look twice: variables that change what runs. */
  warnings: readonly string[]
  /** The places of values that look like secrets. */
  plainSecrets: readonly string[]
}

/** A line of a server's log. */
export interface LogEntry {
  /** Counts the entries of this server. */
  seq: number
  /** Milliseconds since 1970. */
  at: number
  log: ServerLog
}

/** A tool, prompt, resource or template in use. */
export interface EntryView<Definition> {
  /** The unique name: use it in calls. */
  exposed: string
  server: string
  definition: Definition
}

/** A tool that a search found. */
export interface FoundToolView extends EntryView<Tool> {
  score: number
}

/** A tool or prompt: its unique name, or its server and the server's own name for it. */
export type NameOf = string | { server: string; name: string }

/** What an operation does. */
export type OperationKind =
  | 'call'
  | 'read'
  | 'prompt'
  | 'subscribe'
  | 'chat'
  | 'enable'
  | 'restart'
  | 'approve'
  | 'login'
  | 'logout'
  | 'root'

/** Something that may take long: it may wait for a server or for an answer of the person. */
export interface OperationView {
  id: string
  kind: OperationKind
  /** The target: a tool, a URI, a server, a conversation. */
  target: NameOf
  state: 'running' | 'done' | 'failed' | 'cancelled'
  /** Milliseconds since 1970. */
  startedAt: number
  endedAt?: number
  /** The newest notice. */
  progress?: Progress
  /** Set when the state is `done`. Left out in lists, and in events if it is large: fetch the operation. */
  result?: unknown
  /** The size of `result` as JSON. */
  resultBytes?: number
  /** Set when the state is `failed` or `cancelled`. */
  error?: ApiErrorBody['error']
}

/** The answer to the start of an operation. The events tell the rest. */
export interface Started {
  operation: OperationView
}

/** The results of operations, by kind. */
export interface OperationResults {
  call: CallToolResult
  read: ReadResourceResult
  prompt: GetPromptResult
  subscribe: SubscriptionView
  chat: { conversation: string; reason: string; inputTokens: number; outputTokens: number; steps: number }
  enable: HealthView
  restart: HealthView
  approve: null
  login: null
  logout: null
  root: readonly RootView[]
}

/** A subscription to a resource. */
export interface SubscriptionView {
  id: string
  uri: string
}

/** A question that waits for the person. */
export interface QuestionView {
  question: Question
  /** The question in a few lines, as in the terminal. The first is the title. */
  summary: QuestionSummary
  /** The answers to offer, as in the terminal. Those without an `answer` need more input first. */
  choices: readonly AnswerChoice[]
  /** The whole question in words. Control characters and invisible ones are made visible. */
  lines: readonly QuestionLine[]
  /** How many characters `lines` does not show. `GET /api/questions/:id` shows them. */
  folded: number
}

/** How a question ended. */
export interface QuestionEnd {
  id: string
  /** `answered`: through the console. `ended`: the terminal answered, the time is over, or the answer is no longer needed. */
  how: 'answered' | 'ended'
  /** The kind of the answer, if the console knows it. */
  answer?: Answer['kind']
  reason?: string
}

/** An answer of the person. The console adds who answered. */
export type GivenAnswer = Answer extends infer Each ? (Each extends Answer ? Omit<Each, 'by'> : never) : never

/** The policy in use. */
export interface PolicyView {
  layers: Policy['layers']
  /** The folders that rules name as `${root:NAME}`. */
  roots: Readonly<Record<string, string>>
  isBypassing: boolean
}

/** A finding of the policy check. */
export type LintFinding = ReturnType<typeof lintPolicy>[number]

/** Which past decisions another policy would change. */
export interface ReplayView {
  counts: Readonly<Record<Replayed['kind'], number>>
  /** Without the unchanged ones, newest first, at most `maxRecords`. */
  decisions: readonly Exclude<Replayed, { kind: 'same' }>[]
}

/** A page of the audit log, newest first. */
export interface AuditPage {
  records: readonly AuditRecord[]
  /** Give it as `before` for the next page. Undefined: there are no older records. */
  next?: number
}

/** A conversation in the list. */
export interface ConversationView {
  id: string
  /** The beginning of the first message. */
  title: string
  turns: number
  startedAt: number
  updatedAt: number
  /** The operation that answers at the moment. */
  running?: string
}

/** Facts about this host and its console. */
export interface SettingsView {
  name: 'portico'
  version: string
  /** Everything that the host stores is in this folder. */
  folder: string
  models: readonly { id: string; label: string }[]
  limits: Readonly<Record<string, unknown>>
}

/** A part of a chat. Errors are plain objects. */
export type ChatPartView = Exclude<ChatPart, { type: 'error' }> | { type: 'error'; error: ApiErrorBody['error'] }

/** The values in requests, answers and events of the console's API that several pages use. */

import type {
  CallToolResult,
  GetPromptResult,
  Progress,
  Prompt,
  ReadResourceResult,
  Resource,
  ResourceTemplate,
  Tool,
} from '../client/index.ts'
import type { Answer, AnswerChoice, AuditVerdict, Question, QuestionLine, QuestionSummary } from '../host/index.ts'
import type { Preset } from '../host/policy-tools/index.ts'
import type { ModelTest, ModelView } from './api-chat.ts'
import type { ApiErrorBody } from './api-errors.ts'
import type { DoctorReport, EnabledServer, HealthView, RootView } from './api-servers.ts'
import type { RecordingReplay } from './api-timeline.ts'

/** A tool, prompt, resource or template in use. */
export interface EntryView<Definition> {
  /** The unique name: use it in calls. */
  exposed: string
  server: string
  definition: Definition
}

/** A tool in use. */
export interface ToolView extends EntryView<Tool> {
  /** The person accepted it as read-only. */
  isReadOnlyAccepted: boolean
  /** The URI of the view of its results. */
  view?: string
  /** Its calls can run as tasks. With the newest revision the server decides about each call. */
  mayBeTask: boolean
}

/** A tool, prompt, resource or template that a search found. */
export type FoundView =
  | (EntryView<Tool> & { kind: 'tool'; score: number })
  | (EntryView<Prompt> & { kind: 'prompt'; score: number })
  | (EntryView<Resource> & { kind: 'resource'; score: number })
  | (EntryView<ResourceTemplate> & { kind: 'template'; score: number })

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
  | 'enable-all'
  | 'doctor'
  | 'replay'
  | 'test-model'
  /** The start of a task. */
  | 'task'

/** Something that may take long: it may wait for a server or for an answer of the person. */
export interface OperationView {
  id: string
  kind: OperationKind
  /** The target: a tool, a URI, a server, a conversation. */
  target: NameOf
  /** The server that it uses, if it is one. */
  server?: string
  state: 'running' | 'done' | 'failed' | 'cancelled'
  /** Milliseconds since 1970. */
  startedAt: number
  endedAt?: number
  /** How long it waited for answers of the person so far, in milliseconds. */
  waitedMs?: number
  /** The person said no to a question that it caused. */
  isDeclined?: true
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
  'enable-all': readonly EnabledServer[]
  doctor: DoctorReport
  replay: RecordingReplay
  'test-model': ModelTest
  /** The id of the task that has begun. */
  task: { id: string }
}

/** A skill of a server. */
export interface SkillView {
  /** Unique among all servers. */
  exposed: string
  server: string
  uri: string
  /** `new`: not approved. `changed`: approved, but with other files or another frontmatter. Models get only approved ones. */
  state: 'approved' | 'new' | 'changed'
  /** Of the frontmatter: words of the server. */
  name: string
  description: string
  files: readonly { path: string; size: number }[]
}

/** A subscription to a resource. */
export interface SubscriptionView {
  id: string
  uri: string
}

/** A question that waits for the person. */
export interface QuestionView {
  question: Question
  /** Questions with the same group were asked together: show them on one screen. Each has its own answer. */
  group?: string
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

/** Facts about this host and its console. */
export interface SettingsView {
  name: 'portico'
  version: string
  /** Everything that the host stores is in this folder. */
  folder: string
  /** The folder that grants for a project belong to. */
  project: string
  preset: Preset
  models: readonly ModelView[]
  /** The protocol revisions that the host speaks, oldest first. */
  revisions: readonly string[]
  limits: Readonly<Record<string, unknown>>
}

/** A call that the person saved to run again. */
export interface SavedCall extends NewSavedCall {
  id: string
  /** Milliseconds since 1970. */
  savedAt: number
}

/** A call to save. */
export interface NewSavedCall {
  title: string
  kind: 'tool' | 'resource' | 'prompt'
  server: string
  /** The server's own name, or the URI. */
  name: string
  args?: Readonly<Record<string, unknown>>
}

/** A secret in the vault. No route shows its value. */
export interface SecretView {
  name: string
  /** The servers whose configuration names it. */
  servers: readonly string[]
  /** The stored models whose key it is. */
  models: readonly string[]
}

/** A fault in arguments, in words. */
export interface CheckedArguments {
  /** Undefined: there is none. */
  fault?: string
}

/** The state of the tour's parts. */
export interface TourView {
  /** False: the console was opened without the sample server that turns hostile. */
  hasRogue: boolean
  /** Undefined: it was not added yet. */
  rogue?: { server: string; hasTurned: boolean; received: number }
}

/** What happened to a copy of the audit log in which one byte was changed. */
export interface BrokenAudit {
  /** The verdict about the copy as it was. */
  before: AuditVerdict
  /** The verdict about the changed copy. */
  after: AuditVerdict
  /** The record that was changed, and the text around the byte. */
  changed: { seq: number; before: string; after: string }
}

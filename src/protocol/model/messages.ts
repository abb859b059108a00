/** All requests and notifications of the protocol, with the types of their params and results. */

import type { Meta, Result } from './base.ts'
import type { CompleteParams, CompleteResult } from './completion.ts'
import type { ElicitationCompleteParams, ElicitParams, ElicitResult } from './elicitation.ts'
import type { InputRequiredResult, InputResponses } from './input-required.ts'
import type { DiscoverResult, InitializeParams, InitializeResult } from './lifecycle.ts'
import type { LogLevel, LogMessage } from './logging.ts'
import type { CancelledParams, ProgressParams } from './progress.ts'
import type { GetPromptParams, GetPromptResult, ListPromptsResult } from './prompts.ts'
import type {
  ListResourcesResult,
  ListResourceTemplatesResult,
  ReadResourceParams,
  ReadResourceResult,
  ResourceUpdatedParams,
} from './resources.ts'
import type { ListRootsResult } from './roots.ts'
import type { CreateMessageParams, CreateMessageResult } from './sampling.ts'
import type { ListenParams, SubscriptionFilter } from './subscriptions.ts'
import type { CreateTaskResult, ListTasksResult, Task, TaskParams, TaskWish } from './tasks.ts'
import type { CallToolParams, CallToolResult, ListToolsResult } from './tools.ts'

interface Row<Params, Answer> {
  params: Params & { _meta?: Meta }
  result: Answer
}

type Nothing = Record<never, never>
type Page = { cursor?: string }

/** A request that the server may answer with questions. The client repeats it with the answers. */
type Asking<Params, Answer> = Row<Params & { inputResponses?: InputResponses; requestState?: string }, Answer | InputRequiredResult>

/** Requests of the client. */
export interface ClientRequests {
  initialize: Row<InitializeParams, InitializeResult>
  'server/discover': Row<Nothing, DiscoverResult>
  ping: Row<Nothing, Result>
  'tools/list': Row<Page, ListToolsResult>
  'tools/call': Asking<CallToolParams & TaskWish, CallToolResult | CreateTaskResult>
  'resources/list': Row<Page, ListResourcesResult>
  'resources/templates/list': Row<Page, ListResourceTemplatesResult>
  'resources/read': Asking<ReadResourceParams, ReadResourceResult>
  'resources/subscribe': Row<ReadResourceParams, Result>
  'resources/unsubscribe': Row<ReadResourceParams, Result>
  'prompts/list': Row<Page, ListPromptsResult>
  'prompts/get': Asking<GetPromptParams, GetPromptResult>
  'completion/complete': Row<CompleteParams, CompleteResult>
  'logging/setLevel': Row<{ level: LogLevel }, Result>
  'subscriptions/listen': Row<ListenParams, Result>
  'tasks/get': Row<TaskParams, Result & Task>
  'tasks/result': Row<TaskParams, Result>
  'tasks/cancel': Row<TaskParams, Result & Task>
  'tasks/list': Row<Page, ListTasksResult>
}

/** Requests of the server. In a session they are messages; in the stateless dialect they are questions in an answer. */
export interface ServerRequests {
  ping: Row<Nothing, Result>
  'roots/list': Row<Nothing, ListRootsResult>
  'sampling/createMessage': Row<CreateMessageParams & TaskWish, CreateMessageResult | CreateTaskResult>
  'elicitation/create': Row<ElicitParams & TaskWish, ElicitResult | CreateTaskResult>
}

/** Notifications of both sides. */
export interface Notifications {
  'notifications/initialized': Nothing
  'notifications/progress': ProgressParams
  'notifications/cancelled': CancelledParams
  'notifications/message': LogMessage
  'notifications/tools/list_changed': Nothing
  'notifications/resources/list_changed': Nothing
  'notifications/resources/updated': ResourceUpdatedParams
  'notifications/prompts/list_changed': Nothing
  'notifications/roots/list_changed': Nothing
  'notifications/elicitation/complete': ElicitationCompleteParams
  'notifications/subscriptions/acknowledged': { notifications: SubscriptionFilter }
  'notifications/tasks/status': Task
}

/** The final result, without the variant that asks questions. */
export type Settled<Answer> = Exclude<Answer, InputRequiredResult | CreateTaskResult>

/** portico/client: one client for all protocol revisions. Transports have their own subpaths. */

export { RemoteError } from '../jsonrpc/remote-error.ts'
export { Cancelled, Declined, type ErrorCode, McpError } from '../protocol/errors.ts'
export type { Link, LinkReceiver, Target } from '../protocol/interfaces/link.ts'
export type { AroundRequest, ConnectedTo, OutgoingRequest, ReceivedRequest } from '../protocol/interfaces/telemetry.ts'
export type { Implementation } from '../protocol/model/base.ts'
export type { CompleteParams, Completion } from '../protocol/model/completion.ts'
export type { ContentBlock } from '../protocol/model/content.ts'
export type { ElicitResult, FormSchema } from '../protocol/model/elicitation.ts'
export { LOG_LEVELS, type LogLevel, type LogMessage } from '../protocol/model/logging.ts'
export type { ClientRequests, Notifications, ServerRequests } from '../protocol/model/messages.ts'
export type { Progress } from '../protocol/model/progress.ts'
export type { GetPromptResult, Prompt } from '../protocol/model/prompts.ts'
export type { ReadResourceResult, Resource, ResourceContents, ResourceTemplate } from '../protocol/model/resources.ts'
export type { Root } from '../protocol/model/roots.ts'
export type { CreateMessageParams, CreateMessageResult } from '../protocol/model/sampling.ts'
export type { CreateTaskResult, Task, TaskStatus } from '../protocol/model/tasks.ts'
export type { CallToolResult, Tool } from '../protocol/model/tools.ts'
export type { TraceContext } from '../protocol/model/trace-context.ts'
export {
  type MatchedValue,
  type TemplateValue,
  type TemplateValues,
  type UriTemplate,
  uriTemplate,
} from '../protocol/uri-template/index.ts'
export { SUPPORTED_REVISIONS } from '../revisions/supported.ts'
export type { Answers, Asking, FormRequest, SampleHandler, UrlRequest } from './answer-server.ts'
export { ResponseCache } from './cache.ts'
export { Client } from './client.ts'
export type { ServerDescription } from './dialect/dialect.ts'
export { type Verdict, type VerdictMemory, verdictMemory } from './dialect-memory.ts'
export { type ClientLimits, DEFAULT_CLIENT_LIMITS } from './limits.ts'
export { memoryTarget } from './memory-link.ts'
export type { CallOptions, ConnectOptions, TraceSource } from './options.ts'
export type { List } from './paging.ts'
export type { ResumeTaskOptions, TaskCallOptions, TaskHandle, TaskState } from './tasks/task-handle.ts'
export type { ToolResult } from './tool-results.ts'

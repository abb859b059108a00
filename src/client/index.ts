/** portico/client: one client for every protocol revision. Transports come from their own subpaths. */

export { RemoteError } from '../jsonrpc/remote-error.ts'
export type { Implementation } from '../protocol/base.ts'
export type { CompleteParams, Completion } from '../protocol/completion.ts'
export type { ContentBlock } from '../protocol/content.ts'
export type { ElicitResult, FormSchema } from '../protocol/elicitation.ts'
export { Cancelled, Declined, type ErrorCode, McpError } from '../protocol/errors.ts'
export type { Link, LinkReceiver, Target } from '../protocol/link.ts'
export type { LogLevel, LogMessage } from '../protocol/logging.ts'
export type { ClientRequests, Notifications, ServerRequests } from '../protocol/messages.ts'
export type { Progress } from '../protocol/progress.ts'
export type { GetPromptResult, Prompt } from '../protocol/prompts.ts'
export type { ReadResourceResult, Resource, ResourceContents, ResourceTemplate } from '../protocol/resources.ts'
export type { Root } from '../protocol/roots.ts'
export type { CreateMessageParams, CreateMessageResult } from '../protocol/sampling.ts'
export type { CreateTaskResult, Task } from '../protocol/tasks.ts'
export type { CallToolResult, Tool } from '../protocol/tools.ts'
export type { TraceContext } from '../protocol/trace-context.ts'
export {
  type MatchedValue,
  type TemplateValue,
  type TemplateValues,
  type UriTemplate,
  uriTemplate,
} from '../protocol/uri-template/index.ts'
export type { Answers, Asking, FormRequest, SampleHandler, UrlRequest } from './answers.ts'
export { ResponseCache } from './cache.ts'
export { Client, type ToolResult } from './client.ts'
export type { ServerDescription } from './dialect/dialect.ts'
export { type ClientLimits, DEFAULT_CLIENT_LIMITS } from './limits.ts'
export { memoryTarget } from './memory-link.ts'
export type { CallOptions, ConnectOptions } from './options.ts'
export type { List } from './paging.ts'
export { type Verdict, type VerdictMemory, verdictMemory } from './probe.ts'
export type { TraceSource } from './trace.ts'

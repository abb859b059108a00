/** portico/server: write a server once, serve every protocol revision. */

export { RemoteError } from '../jsonrpc/remote-error.ts'
export type { Grant } from '../protocol/access.ts'
export type { Annotations, Icon, Implementation, Meta } from '../protocol/base.ts'
export type { Completion } from '../protocol/completion.ts'
export type { ContentBlock } from '../protocol/content.ts'
export { Cancelled, Declined, type ErrorCode, McpError, ToolError, UrlElicitationRequired } from '../protocol/errors.ts'
export type { LogLevel, LogMessage } from '../protocol/logging.ts'
export type { ClientRequests, Notifications, ServerRequests } from '../protocol/messages.ts'
export type { Bus, Change, KeyRing, SealingKey } from '../protocol/ports.ts'
export type { GetPromptResult, PromptMessage } from '../protocol/prompts.ts'
export type { Rate } from '../protocol/rate.ts'
export type { ReadResourceResult, ResourceContents } from '../protocol/resources.ts'
export type { Root } from '../protocol/roots.ts'
export type { CreateMessageParams, CreateMessageResult, SamplingMessage } from '../protocol/sampling.ts'
export type { JsonSchema } from '../protocol/schema/json-schema.ts'
export type { AnySchema } from '../protocol/schema/port.ts'
export type { Channel, ChannelOptions, Service } from '../protocol/service.ts'
export type { CallToolResult, Tool, ToolAnnotations } from '../protocol/tools.ts'
export type { TraceContext } from '../protocol/trace-context.ts'
export {
  type MatchedValue,
  type TemplateValue,
  type TemplateValues,
  type UriTemplate,
  uriTemplate,
} from '../protocol/uri-template/index.ts'
export { type FormAnswer, form, page, type Question, rootList, sampling, type UrlAnswer } from './ask/question.ts'
export type { Caller } from './call.ts'
export { audio, embed, image, link, text } from './content.ts'
export type { AnswersTo, Context, Questions } from './context.ts'
export type { Failure, ServerOptions } from './core.ts'
export type { Completer, Completers, CompletionContext } from './features/completion.ts'
export type { Log, LoggingOptions } from './features/logging.ts'
export type { PromptDefinition, PromptHandle } from './features/prompts.ts'
export type { ResourceDefinition, ResourceHandle } from './features/resources.ts'
export type { ToolDefinition, ToolHandle } from './features/tools.ts'
export { DEFAULT_LIMITS, type ServerLimits } from './limits.ts'
export type { Middleware, MiddlewareCall } from './middleware.ts'
export { createServer, pageRequired, type Server } from './server.ts'

/** portico/server: write a server once and serve it in every protocol revision. */

export type { Rate } from '../base/rate.ts'
export { RemoteError } from '../jsonrpc/remote-error.ts'
export { Cancelled, Declined, type ErrorCode, McpError, ToolError, UrlElicitationRequired } from '../protocol/errors.ts'
export type { TokenClaims as Grant } from '../protocol/interfaces/access.ts'
export type { Bus, Change, KeyRing, SealingKey } from '../protocol/interfaces/replaceable-services.ts'
export type { Channel, ChannelOptions, Service } from '../protocol/interfaces/service.ts'
export type { Annotations, Icon, Implementation, Meta } from '../protocol/model/base.ts'
export type { Completion } from '../protocol/model/completion.ts'
export type { ContentBlock } from '../protocol/model/content.ts'
export type { LogLevel, LogMessage } from '../protocol/model/logging.ts'
export type { ClientRequests, Notifications, ServerRequests } from '../protocol/model/messages.ts'
export type { GetPromptResult, PromptMessage } from '../protocol/model/prompts.ts'
export type { ReadResourceResult, ResourceContents } from '../protocol/model/resources.ts'
export type { Root } from '../protocol/model/roots.ts'
export type { CreateMessageParams, CreateMessageResult, SamplingMessage } from '../protocol/model/sampling.ts'
export type { CallToolResult, Tool, ToolAnnotations } from '../protocol/model/tools.ts'
export type { TraceContext } from '../protocol/model/trace-context.ts'
export type { AnySchema } from '../protocol/schema/any-schema.ts'
export type { JsonSchema } from '../protocol/schema/json-schema.ts'
export {
  type MatchedValue,
  type TemplateValue,
  type TemplateValues,
  type UriTemplate,
  uriTemplate,
} from '../protocol/uri-template/index.ts'
export type { ExtensionHandle, ServerExtension } from './addition.ts'
export { audio, embed, image, link, text } from './content.ts'
export type { AnswersTo, Context, Questions } from './context.ts'
export type { Completer, Completers, CompletionContext } from './features/completer.ts'
export type { PromptDefinition, PromptHandle } from './features/prompts.ts'
export type { ResourceDefinition, ResourceHandle } from './features/resources.ts'
export type { ToolDefinition, ToolHandle } from './features/tools.ts'
export type { Caller } from './incoming-call.ts'
export { type FormAnswer, form, page, type Question, rootList, sampling, type UrlAnswer } from './input/question.ts'
export { type KeySecret, keyRing } from './key-ring.ts'
export { DEFAULT_LIMITS, type ServerLimits } from './limits.ts'
export type { Log, LoggingOptions } from './logging.ts'
export type { Middleware, MiddlewareCall } from './middleware.ts'
export type { DefinedPrompt, DefinedResource, DefinedTool, MountChanges } from './mount.ts'
export type { Failure, ServerOptions } from './options.ts'
export { createServer, pageRequired, type Server } from './server.ts'

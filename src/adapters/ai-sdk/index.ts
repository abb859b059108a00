/** portico/ai-sdk: servers and hosts for programs that use the AI SDK (the package `ai`). */

export type { ClientToolsOptions, HostToolsOptions } from '../tool-list.ts'
export { type AiToolOutput, aiTools } from './tools.ts'
export { type UiMessageStreamOptions, uiMessageStream } from './ui-message-stream.ts'

// Made by "portico generate client". Changes are lost when it is made again.

import type { CallOptions, Client, ToolResult } from 'portico'

export type ToolInput = ({
  a: string
} | {
  b?: unknown
}) & Record<string, unknown>
export type ToolOutput = unknown
export const tool = (client: Client, args: ToolInput, options?: CallOptions): Promise<ToolResult<ToolOutput>> =>
  client.call<ToolOutput>('', args as never, options)

export type ProcessExit1ProcessExit1ProcessExit1ProcessExit1TsIgnoreInput = {
  /**
   * *\/ process.exit(1) /* '+process.exit(1)+' `${process.exit(1)}` <U+2028> process.exit(1)
   * \@ts-ignore
   */
  '*/ process.exit(1) /* \'+process.exit(1)+\' `${process.exit(1)}` \u2028 process.exit(1)\n@ts-ignore'?: '*/ process.exit(1) /* \'+process.exit(1)+\' `${process.exit(1)}` \u2028 process.exit(1)\n@ts-ignore' | 1 | null
}
export type ProcessExit1ProcessExit1ProcessExit1ProcessExit1TsIgnoreOutput = {
  __proto__?: '*/ process.exit(1) /* \'+process.exit(1)+\' `${process.exit(1)}` \u2028 process.exit(1)\n@ts-ignore'
}
/**
 * *\/ process.exit(1) /* '+process.exit(1)+' `${process.exit(1)}` <U+2028> process.exit(1)
 * \@ts-ignore
 */
export const processExit1ProcessExit1ProcessExit1ProcessExit1TsIgnore = (client: Client, args: ProcessExit1ProcessExit1ProcessExit1ProcessExit1TsIgnoreInput = {}, options?: CallOptions): Promise<ToolResult<ProcessExit1ProcessExit1ProcessExit1ProcessExit1TsIgnoreOutput>> =>
  client.call<ProcessExit1ProcessExit1ProcessExit1ProcessExit1TsIgnoreOutput>('*/ process.exit(1) /* \'+process.exit(1)+\' `${process.exit(1)}` \u2028 process.exit(1)\n@ts-ignore', args, options)

export type Tool1Input = unknown
export type Tool1Output = unknown
export const tool1 = (client: Client, args: Tool1Input, options?: CallOptions): Promise<ToolResult<Tool1Output>> =>
  client.call<Tool1Output>('1', args as never, options)

export type ClassToolInput = Record<string, unknown>
export type ClassToolOutput = unknown
export const classTool = (client: Client, args: ClassToolInput = {}, options?: CallOptions): Promise<ToolResult<ClassToolOutput>> =>
  client.call<ClassToolOutput>('Class!', args, options)

export type ClassTool_2Input = {
  constructor: string
  new?: number
}
export type ClassTool_2Output = unknown
export const classTool_2 = (client: Client, args: ClassTool_2Input, options?: CallOptions): Promise<ToolResult<ClassTool_2Output>> =>
  client.call<ClassTool_2Output>('class', args, options)

export type Tool_2Input = {
  far?: unknown
}
export type Tool_2Output = unknown
/** <U+202E>left to right */
export const tool_2 = (client: Client, args: Tool_2Input = {}, options?: CallOptions): Promise<ToolResult<Tool_2Output>> =>
  client.call<Tool_2Output>('\u65e5\u672c', args, options)

/** Tools for `generateText`, `streamText` and agents of the AI SDK. */

import { dynamicTool, type JSONSchema7, jsonSchema, type Tool, type ToolSet, toolModelMessageSchema } from 'ai'
import type { Client } from '../../client/client.ts'
import type { Host } from '../../host/host.ts'
import type { Progress } from '../../protocol/model/progress.ts'
import { type ModelPart, modelParts, textOnly } from '../model-parts.ts'
import { type ClientToolsOptions, type HostToolsOptions, type ToolOutput, toolList } from '../tool-list.ts'
import { withProgress } from './with-progress.ts'

/** The output of a tool in results and UI messages. Preliminary outputs have only the progress. */
export interface AiToolOutput extends ToolOutput {
  progress?: Progress
}

/**
 * The tools of a server or a host for the AI SDK. Calls of a host's tools are actions of the model: the policy decides, the person may be
 * asked, and the log records them. Get the tools of a host once for each message of the person.
 *
 * @example
 * const { text } = await generateText({ model, prompt, tools: await aiTools(client), stopWhen: stepCountIs(10) })
 *
 * @example
 * const tools = await aiTools(host, { conversation })
 */
export async function aiTools(client: Client, options?: ClientToolsOptions): Promise<ToolSet>
export async function aiTools(host: Host, options: HostToolsOptions): Promise<ToolSet>
export async function aiTools(source: Client | Host, options?: ClientToolsOptions | HostToolsOptions): Promise<ToolSet> {
  const listed = await toolList(source, options)
  return Object.fromEntries(
    listed.map(({ name, description, inputSchema, run }) => [
      name,
      dynamicTool({
        ...(description !== undefined && { description }),
        inputSchema: jsonSchema(inputSchema as JSONSchema7),
        execute: async function* (args, { toolCallId, abortSignal }): AsyncGenerator<AiToolOutput> {
          for await (const step of withProgress((onProgress) => run(args, { id: toolCallId, signal: abortSignal, onProgress }))) {
            yield step.kind === 'progress' ? { content: [], progress: step.progress } : step.value
          }
        },
        toModelOutput: ({ output }) => modelOutput(output as ToolOutput),
      }),
    ]),
  )
}

type Output = NonNullable<ReturnType<NonNullable<Tool['toModelOutput']>>>
type ModelOutput = Exclude<Output, PromiseLike<unknown>>
type ContentPart = Extract<ModelOutput, { type: 'content' }>['value'][number]

function modelOutput(output: ToolOutput): ModelOutput {
  const parts = modelParts(output)
  const text = textOnly(parts)
  if (text === undefined) return { type: 'content', value: parts.map((part) => (part.type === 'text' ? part : picture(part))) }
  if (output.refused) return { type: 'execution-denied', reason: text }
  return { type: output.isError ? 'error-text' : 'text', value: text }
}

const filePart = ({ data, mediaType }: Picture) => ({ type: 'file', data: { type: 'data', data }, mediaType })

/** Version 7 has one part for all files, and warns about the part for pictures of version 6. */
const hasFileParts = toolModelMessageSchema.safeParse({
  role: 'tool',
  content: [
    {
      type: 'tool-result',
      toolCallId: 'probe',
      toolName: 'probe',
      output: { type: 'content', value: [filePart({ data: '', mediaType: 'image/png' })] },
    },
  ],
}).success

type Picture = Pick<Extract<ModelPart, { type: 'picture' }>, 'data' | 'mediaType'>

const picture = ({ data, mediaType }: Picture): ContentPart =>
  hasFileParts ? (filePart({ data, mediaType }) as unknown as ContentPart) : { type: 'image-data', data, mediaType }

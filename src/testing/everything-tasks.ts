/** The tools of the everything server that run as tasks. The official conformance suite calls them by these names. */

import type { TaskStore } from '../protocol/interfaces/task-store.ts'
import { form, type JsonSchema, McpError, type Server, ToolError } from '../server/index.ts'
import { tasks } from '../server/tasks/support.ts'

/** An object schema with a type that TypeScript can infer. */
export const object = <const P extends Record<string, JsonSchema>>(
  properties: P,
): { type: 'object'; properties: P; required: (keyof P & string)[] } => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
})
const string = { type: 'string' } as const

const AT_ONCE = { task: 'optional', taskAfterMs: 0 } as const

/** Call it before any tool is defined. */
export function extendWithTasks(server: Server, store: TaskStore | undefined): void {
  server.extend(tasks({ pollIntervalMs: 100, ...(store && { store }) }))
}

export function addTaskTools(server: Server): void {
  server.tool('greet', { description: 'Greets at once', input: object({ name: string }) }, ({ name }) => `Hello, ${name}!`)
  server.tool(
    'slow_compute',
    {
      description: 'Works for some seconds, as a task if the client can',
      input: object({ seconds: { type: 'number', minimum: 0, maximum: 600 }, label: string }),
      ...AT_ONCE,
    },
    async ({ seconds, label }, ctx) => {
      await sleep(seconds * 1000, ctx.signal)
      return `Computed ${label} in ${seconds} s`
    },
  )
  server.tool('failing_job', { description: 'A task that reports an error', task: 'required' }, () => {
    throw new ToolError('This job always fails')
  })
  server.tool('protocol_error_job', { description: 'A task that ends with a protocol error', task: 'required' }, () => {
    throw new McpError('ERR_INTERNAL', 'This job always ends with a protocol error')
  })
  server.tool(
    'confirm_delete',
    { description: 'A task that asks for confirmation', input: object({ filename: string }), task: 'required' },
    async ({ filename }, ctx) => {
      const question = form(`Delete ${filename}?`, object({ confirm: { type: 'boolean' } }))
      const { confirm } = await ctx.ask({ confirm: question })
      return confirm.action === 'accept' && confirm.content.confirm ? `Deleted ${filename}` : `Kept ${filename}`
    },
  )
  server.tool('multi_input', { description: 'A task that asks two things at once', task: 'required' }, async (_args, ctx) => {
    // Any answer will do: what counts is that the two are open at the same time.
    const any: JsonSchema = { type: 'object', properties: { value: string }, required: [] }
    const answers = await ctx.ask({ first: form('The first value?', any), second: form('The second value?', any) })
    return JSON.stringify(answers)
  })
  server.tool(
    'test_tool_with_task',
    // The question comes at once, so it is part of the call; the work takes longer, so it becomes a task.
    { description: 'Asks for a name, then greets as a task', task: 'optional', taskAfterMs: 500 },
    async (_args, ctx) => {
      const { name } = await ctx.elicit('name', 'What is your name?', object({ name: string }))
      await sleep(1000, ctx.signal)
      return `Hello, ${name}!`
    },
  )
}

function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms)
    const stop = (): void => {
      clearTimeout(timer)
      reject(signal.reason as Error)
    }
    signal.addEventListener('abort', stop, { once: true })
  })
}

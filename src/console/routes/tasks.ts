/** Routes for tasks. */

import type { HostTask } from '../../host/index.ts'
import { McpError } from '../../host/index.ts'
import type { TaskView } from '../api.ts'
import { notFound } from '../errors.ts'
import { BY_PERSON, type ConsoleServices } from '../services.ts'
import { input, type Route, route } from '../web/router.ts'
import { NAME, OPERATION_ID } from './use.ts'

export function taskRoutes({ host, operations, byHand }: ConsoleServices): Route[] {
  const found = async (id: string): Promise<HostTask> => {
    try {
      return await host.task(id)
    } catch (error) {
      if (error instanceof McpError && error.code === 'ERR_INVALID_PARAMS') throw notFound(error.message)
      throw error
    }
  }
  return [
    route('GET /api/tasks', {}, async () => ({ tasks: (await host.tasks()).map(viewOf) })),
    route('GET /api/tasks/:id', {}, async ({ params: { id } }) => ({ task: (await found(id)).state })),
    route(
      'POST /api/tasks',
      { body: input({ tool: NAME, 'args?': { type: 'object' }, 'id?': OPERATION_ID }), status: 202 },
      ({ body: { tool, args = {}, id } }) => ({
        operation: operations.start({
          kind: 'task',
          target: tool,
          id,
          run: async ({ signal, onProgress }) => {
            const task = await host.callTask(tool, args, { ...BY_PERSON, conversation: byHand.emptied(), signal, onProgress })
            return { id: task.id }
          },
        }),
      }),
    ),
    route('DELETE /api/tasks/:id', {}, async ({ params: { id } }) => {
      await found(id)
      return { task: viewOf(await host.cancelTask(id)) }
    }),
  ]
}

function viewOf({ state }: HostTask): TaskView {
  const { result: _, ...view } = state
  return view
}
